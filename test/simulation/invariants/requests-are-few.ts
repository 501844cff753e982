import { type ProcessRecord, processesOf, type Run, type SentRequest, type StepRecord } from '../record.js';
import {
  ambiguousCreates,
  deadlineOf,
  idOfDelete,
  isFaulty,
  isRejection,
  isThrottled,
  isWholeKeyList,
  keysOf,
  maxAmbiguousCreates,
  retryAfterOf,
} from '../truth.js';

/** For a poll that failed a longer `Retry-After` counts as one minute. */
const maxPollPause = 60_000;
const maxConcurrent = 12;
const attempts = 5;

/** No create is repeated blindly, no request precedes the end of a `Retry-After`, and the number of requests is bounded. */
export function requestsAreFew(run: Run): string[] {
  return run.steps.flatMap((step) => [
    ...repeatedCreates(step),
    ...processesOf(step).flatMap((process) => [
      ...tooMany(run, step, process),
      ...tooManyConcurrent(process, run.stage.slackMs),
      ...tooEarly(step, process, run.stage.slackMs),
    ]),
  ]);
}

/** Between two creates, of which the first may have taken effect, stands a whole list of keys. */
function repeatedCreates({ main, post }: StepRecord): string[] {
  const problems = post?.sent.some(({ method }) => method === 'POST') ? ['post sent a POST'] : [];
  const ambiguous = ambiguousCreates(main).length;
  if (ambiguous > maxAmbiguousCreates) problems.push(`${ambiguous} creates that may have taken effect`);
  let open: SentRequest | undefined;
  for (const sent of main.sent) {
    if (isWholeKeyList(sent)) open = undefined;
    if (sent.method !== 'POST') continue;
    if (open !== undefined) problems.push(`POST ${sent.n} repeats POST ${open.n}, which may have taken effect`);
    open = isRejection(sent) || !sent.mayHaveTakenEffect ? undefined : sent;
  }
  return problems;
}

function tooMany(run: Run, step: StepRecord, process: ProcessRecord): string[] {
  const { part, sent } = process;
  const max = maxRequests(run, step, process) + resends(run, process);
  const problems = sent.length > max ? [`${part} sent ${sent.length} requests, expected at most ${max}`] : [];
  const throttled = sent.filter(isThrottled).length;
  // Post has only 20 s: it searches about once a second, and tries each key each time.
  const interval = part === 'post' ? 1_000 : 10_000;
  const maxThrottled = (12 + (process.endedAt - process.startedAt) / interval) * concurrencyOf(run, step);
  return throttled > maxThrottled ? [...problems, `${part} was throttled ${throttled} times`] : problems;
}

/** Over sockets, a request on a used connection that is cut is sent once more on a new one, except a create. */
function resends({ stage }: Run, { sent }: ProcessRecord): number {
  if (stage.slackMs === 0) return 0;
  return sent.filter(({ fault, method }) => fault === 'cut-before-headers' && method !== 'POST').length;
}

function tooManyConcurrent({ sent, part, endedAt }: ProcessRecord, slackMs: number): string[] {
  const crowded = sent.find(
    ({ at }) => sent.filter((one) => one.at <= at && (one.endedAt ?? endedAt) > at + slackMs).length > maxConcurrent,
  );
  return crowded === undefined ? [] : [`${part} had more than ${maxConcurrent} requests pending at ${crowded.at}`];
}

function concurrencyOf(run: Run, step: StepRecord): number {
  const { mode } = step.plan.expects;
  if (mode === 'wait-operation') return maxConcurrent;
  return mode === 'revoke-key' || mode === 'sweep-keys' ? 20 : Math.max(2, keysOf(run, step).length);
}

/** Of the time waited, the records and the pages. */
function maxRequests(run: Run, step: StepRecord, process: ProcessRecord): number {
  const { plane, operations } = run.stage;
  const { expects, inputs, timeoutMs } = step.plan;
  const { sent, part, startedAt, endedAt } = process;
  if (part === 'post') return 40 * (2 + 2 * keysOf(run, step).length);
  const failed = sent.filter(isFaulty).length;
  const throttled = sent.filter(isThrottled).length;
  const pageSize = Math.min(100, plane.notShown.maximumPageSize);
  switch (expects.mode) {
    case 'wait-operation': {
      const interval = Number.parseInt(inputs['poll-interval'] ?? '', 10) * 1_000 || 490;
      // A project that was removed meanwhile may have had as many as the largest.
      const listed = expects.projectIds.map(
        (id) => plane.operationTimeline(id)?.page(undefined, Number.POSITIVE_INFINITY).items.length ?? 260,
      );
      const pages = Math.ceil(Math.min(200, Math.max(...listed) * listed.length) / pageSize) + 1;
      const perPoll =
        expects.ids === 'all'
          ? pages * listed.length + operations.length
          : expects.ids.length + (expects.ids.length > 2 ? pages : 0);
      if (timeoutMs === 0) return perPoll;
      return (
        (2 + (endedAt - startedAt) / interval) * perPoll + Math.min(failed, attempts * perPoll) + failed + throttled
      );
    }
    case 'list-operations':
      return Math.ceil(260 / pageSize) + 6 + failed;
    case 'list-projects':
      return Math.ceil(40 / Math.min(pageSize, plane.notShown.projectsPageSize || pageSize)) + 6 + failed;
    case 'list-keys':
      return attempts + throttled;
    case 'create-key':
      return attempts * (1 + attempts + 2 * attempts * keysOf(run, step).length) + throttled;
    default:
      // After a list that was throttled, the next revocation requests it again.
      return attempts + 2 * attempts * new Set(sent.flatMap((one) => idOfDelete(one) ?? [])).size + 2 * throttled;
  }
}

function tooEarly(step: StepRecord, { sent, part }: ProcessRecord, slackMs: number): string[] {
  const deadline = deadlineOf(step);
  const isWait = step.plan.mode === 'wait-operation';
  return sent.flatMap((first, index) => {
    const asked = retryAfterOf(first);
    const { endedAt } = first;
    if (asked === undefined || endedAt === undefined || !isRetried(first)) return [];
    const isPollFailure = isWait && !isThrottled(first);
    const until = endedAt + (isPollFailure ? Math.min(asked, maxPollPause) : asked) - 1 - Math.min(slackMs, 5);
    const early = sent
      .slice(index + 1)
      .find(
        (next) =>
          next.at >= endedAt && next.at > first.at && next.at < until && isDelayedBy(step, first, next, slackMs),
      );
    // The last poll at the deadline does not wait.
    if (early === undefined || (isPollFailure && early.at >= deadline)) return [];
    const ms = Math.round(until + 1 - early.at);
    return [`${part}: request ${early.n} came ${ms} ms before the end of the Retry-After of request ${first.n}`];
  });
}

function isRetried({ response }: SentRequest): boolean {
  const status = response?.status ?? 0;
  return [408, 423, 425, 429].includes(status) || status >= 500;
}

const concurrentModes = ['revoke-key', 'sweep-keys', 'create-key', 'wait-operation'];

/** A 429 delays all requests. A 423, or the failure of one of several concurrent requests, delays only its repetition. */
function isDelayedBy({ plan: { mode } }: StepRecord, first: SentRequest, next: SentRequest, slackMs: number): boolean {
  // A concurrent request may leave before the client has read the response.
  const isConcurrent = concurrentModes.includes(mode) && next.at <= (first.endedAt ?? 0) + slackMs / 20;
  if (first.method === next.method && withoutQuery(first) === withoutQuery(next)) return !isConcurrent || slackMs === 0;
  const status = first.response?.status;
  return !isConcurrent && status !== 423 && (status === 429 || mode !== 'wait-operation');
}

function withoutQuery({ path }: SentRequest): string {
  return path.replace(/\?.*/, '');
}
