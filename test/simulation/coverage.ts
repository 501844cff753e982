import type { ProcessRecord, Run, SentRequest, StepRecord } from './record.js';

/** The client treats the faults of a group alike. */
export const groupOf: Readonly<Record<Exclude<SentRequest['fault'], 'status' | undefined>, string>> = {
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
const faults = [...new Set(Object.values(groupOf)), 'throttled', 'failure', 'rejection'];

const common = ['green', 'red', 'cancelled', 'killed'];
const ofWait = ['finished', 'failed', 'timeout', 'error', 'cancelled', 'killed'];
const ofPost = ['green', 'alarm', 'killed'];
const phases: readonly (readonly [mode: string, endings: readonly string[], ...phases: string[]])[] = [
  ['wait-operation', ofWait, 'first poll', 'later poll'],
  ['list-operations', common, 'first page', 'later page'],
  ['list-projects', common, 'first page', 'later page'],
  ['list-keys', common, 'list'],
  ['create-key', common, 'create', 'list', 'revocation'],
  ['revoke-key', common, 'list', 'revocation'],
  ['sweep-keys', common, 'list', 'revocation'],
  ['post', ofPost, 'list', 'revocation'],
];
/** Each fault in each phase of each mode, and each ending of the process that it can have. */
export const cells: readonly string[] = phases.flatMap(([mode, endings, ...ofMode]) =>
  faults.flatMap((fault) => {
    const possible = endings.filter((ending) => canEnd(mode, fault, ending));
    return ofMode.flatMap((phase) => possible.map((ending) => `${mode}, ${phase}: ${fault}, ${ending}`));
  }),
);

export function cellsOf({ steps }: Run): Set<string> {
  return new Set(steps.flatMap(cellsOfStep));
}

function cellsOfStep(step: StepRecord): string[] {
  return step.processes.flatMap((process) => {
    const ending = endingOf(step, process);
    const firstResponse = process.sent.findIndex(({ json }) => json !== undefined);
    return process.sent.map((sent, index) => {
      const isLater = firstResponse >= 0 && index > firstResponse;
      return `${phaseOf(step, process, sent, isLater)}: ${faultOf(sent)}, ${ending}`;
    });
  });
}

function endingOf({ plan: { mode } }: StepRecord, process: ProcessRecord): string {
  if (process.exit === 'killed') return 'killed';
  if (process.part === 'post') return process.alarms.length > 0 ? 'alarm' : 'green';
  const { status } = process;
  if (status === 'cancelled') return status;
  if (mode === 'wait-operation') return ofWait.includes(status) ? status : process.exit === 0 ? 'finished' : 'error';
  return process.exit === 0 ? 'green' : 'red';
}

function phaseOf({ plan: { mode } }: StepRecord, { part }: ProcessRecord, sent: SentRequest, isLater: boolean): string {
  if (part === 'main' && mode === 'wait-operation') return `${mode}, ${isLater ? 'later' : 'first'} poll`;
  if (mode === 'list-operations' || mode === 'list-projects')
    return `${mode}, ${sent.hasCursor ? 'later' : 'first'} page`;
  const phase = { GET: 'list', POST: 'create', DELETE: 'revocation' }[sent.method];
  return `${part === 'post' ? part : mode}, ${phase}`;
}

function faultOf(sent: SentRequest): string {
  const { fault, status, isThrottled, isRejection } = sent;
  if (fault !== 'status') return fault === undefined ? 'none' : groupOf[fault];
  if (status < 300) return 'garbled';
  return isThrottled ? 'throttled' : isRejection ? 'rejection' : 'failure';
}

/** A rejection or a redirect ends the step at once, so it can neither succeed nor be interrupted. */
function canEnd(mode: string, fault: string, ending: string): boolean {
  // Lists of keys announce what they leave out by their pages alone.
  if (fault === 'partial' && !/^(wait-operation|list-operations|list-projects)$/.test(mode)) return false;
  if (fault !== 'rejection' && fault !== 'redirect') return true;
  // The other credential may still succeed, and that takes time.
  if (mode === 'post') return fault === 'redirect' || ending !== 'killed';
  return ending === 'error' || ending === 'red';
}
