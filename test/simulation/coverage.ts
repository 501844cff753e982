import type { ProcessRecord, Run, SentRequest } from './record.js';

/** The client treats the faults of a group alike. */
const groupOf: Readonly<Record<Exclude<SentRequest['fault'], 'status' | 'limit' | undefined>, string>> = {
  'close-on-next-request': 'none',
  'hang-before-headers': 'hang',
  'hang-mid-body': 'hang',
  'cut-before-headers': 'cut',
  'cut-mid-body': 'cut',
  'closed-on-arrival': 'cut',
  delay: 'slow',
  drip: 'slow',
  'bad-json': 'garbled',
  'empty-body': 'garbled',
  'endless-body': 'garbled',
  'partial-list': 'partial',
  html: 'page',
  redirect: 'redirect',
  outage: 'outage',
};
const groups = [...new Set(Object.values(groupOf)), 'throttled', 'failure', 'rejection'];
const endings = ['finished', 'failed', 'timeout', 'error', 'cancelled', 'killed', 'alarm'];
const requests: Readonly<Record<string, readonly string[]>> = {
  'wait-operation': ['first poll', 'later poll'],
  'list-operations': ['first page', 'later page'],
  'list-projects': ['first page', 'later page'],
  'list-keys': ['GET'],
  'create-key': ['POST'],
  'revoke-key': ['GET', 'DELETE'],
  'sweep-keys': ['GET', 'DELETE'],
  post: ['GET', 'DELETE'],
};

const impossible = [
  /^(?!wait-operation).*(failed|timeout)$/,
  /^(?!post).*alarm$/,
  /^post.*(error|cancelled)$/,
  // Lists of keys announce what they leave out by their pages alone.
  /^(post|\w+-keys?),.*: partial/,
  // They end main at once, so it can neither succeed nor be interrupted. A DELETE is repeated, and a wait goes on.
  /^(?!post|wait-operation|\w+-keys?, DELETE).*: (rejection|redirect), (?!error)/,
];
/** Each fault in each kind of request, and each ending of the process that it can have. */
export const cells: readonly string[] = Object.entries(requests)
  .flatMap(([place, kinds]) => kinds.map((kind) => `${place}, ${kind}`))
  .flatMap((request) => groups.flatMap((group) => endings.map((ending) => `${request}: ${group}, ${ending}`)))
  .filter((cell) => !impossible.some((pattern) => pattern.test(cell)));

export function cellsOf({ steps }: Run): Set<string> {
  const met = steps.flatMap(({ processes, plan: { mode } }) =>
    processes.flatMap((process) => {
      const place = process.part === 'post' ? 'post' : mode;
      const firstResponse = process.sent.find(({ json }) => json !== undefined)?.n ?? Number.POSITIVE_INFINITY;
      return process.sent.map((sent) => {
        const page = `${sent.hasCursor ? 'later' : 'first'} page`;
        const poll = `${sent.n > firstResponse ? 'later' : 'first'} poll`;
        const kind = requests[place]?.find((one) => [page, poll, sent.method].includes(one));
        return `${place}, ${kind}: ${faultOf(sent)}, ${endingOf(process)}`;
      });
    }),
  );
  return new Set(met);
}

function endingOf({ part, exit, status, alarms }: ProcessRecord): string {
  if (exit === 'killed') return exit;
  if (part === 'post') return alarms.length > 0 ? 'alarm' : 'finished';
  if (exit === 0) return 'finished';
  return endings.includes(status) ? status : 'error';
}

function faultOf({ fault, status, isThrottled, isRejection }: SentRequest): string {
  if (fault !== 'status' && fault !== 'limit') return fault === undefined ? 'none' : groupOf[fault];
  if (status < 300) return 'garbled';
  return isThrottled ? 'throttled' : isRejection ? 'rejection' : 'failure';
}
