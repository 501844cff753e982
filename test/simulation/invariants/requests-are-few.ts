import { excuses } from '../excuses.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import { maxAmbiguousCreates, maxAttempts } from '../truth.js';

/** For a poll that failed a longer `Retry-After` counts as one minute. */
const maxPollPause = 60_000;
const maxConcurrent = 12;

/** No create is repeated blindly, no request precedes the end of a `Retry-After`, and the number of requests is bounded. */
export function* requestsAreFew(step: StepRecord, run: Run): Generator<string> {
  yield* repeatedCreates(step);
  for (const process of step.processes) {
    yield* tooMany(run, step, process);
    yield* tooManyConcurrent(process, run.stage.slackMs);
    yield* tooEarly(step, process, run.stage.slackMs);
  }
}

/** Between two creates, of which the first may have taken effect, stands a whole list of keys. Only create-key creates. */
function* repeatedCreates({ main, processes, plan: { mode } }: StepRecord) {
  for (const { part, sent } of processes)
    if ((part === 'post' || mode !== 'create-key') && sent.some(({ method }) => method === 'POST'))
      yield `${part} sent a POST`;
  if (main.ambiguousCreates > maxAmbiguousCreates) yield `${main.ambiguousCreates} creates that may have taken effect`;
  let open: SentRequest | undefined;
  for (const sent of main.sent) {
    if (sent.keyList === 'whole') open = undefined;
    if (sent.method !== 'POST') continue;
    if (open !== undefined) yield `POST ${sent.n} repeats POST ${open.n}, which may have taken effect`;
    open = sent.isRejection || !sent.mayHaveTakenEffect ? undefined : sent;
  }
}

function* tooMany(run: Run, step: StepRecord, process: ProcessRecord) {
  const { part, sent, startedAt, endedAt } = process;
  // Over sockets, a request on a used connection that is cut is sent once more on a new one.
  const cut = run.stage.slackMs === 0 ? 0 : sent.filter(({ fault }) => fault === 'cut-before-headers').length;
  const max = maxRequests(run, step, process) + cut;
  if (sent.length > max) yield `${part} sent ${sent.length} requests, expected at most ${max}`;
  const throttled = sent.filter(({ isThrottled }) => isThrottled).length;
  // Post has only 20 s: it searches about once a second, and tries each key each time.
  const interval = part === 'post' ? 1_000 : 10_000;
  const each = 12 + (endedAt - startedAt) / interval;
  if (throttled > each * concurrencyOf(step)) yield `${part} was throttled ${throttled} times`;
}

function* tooManyConcurrent({ sent, part, endedAt }: ProcessRecord, slackMs: number) {
  const pendingAt = (ms: number) => sent.filter((one) => one.at <= ms && (one.endedAt ?? endedAt) > ms + slackMs);
  const crowded = sent.find(({ at }) => pendingAt(at).length > maxConcurrent);
  if (crowded !== undefined) yield `${part} had more than ${maxConcurrent} requests pending at ${crowded.at}`;
}

function givenIds({ plan: { expects } }: StepRecord): number {
  return expects.mode === 'wait-operation' && expects.ids !== 'all' ? expects.ids.length : 0;
}

/** A 423 for one of many given ids delays no other, so each can get as many as one alone. */
function concurrencyOf(step: StepRecord): number {
  const { mode } = step.plan;
  if (mode === 'wait-operation') return Math.max(maxConcurrent, givenIds(step));
  return mode === 'revoke-key' || mode === 'sweep-keys' ? 20 : Math.max(2, step.keys.length);
}

function maxRequests({ stage }: Run, step: StepRecord, process: ProcessRecord): number {
  const { plane, operations } = stage;
  const { expects, inputs, timeoutMs } = step.plan;
  const { sent, part, startedAt, endedAt } = process;
  if (part === 'post') return 40 * (2 + 2 * step.keys.length);
  const failed = sent.filter(({ isFaulty }) => isFaulty).length;
  const throttled = sent.filter(({ isThrottled }) => isThrottled).length;
  const pageSize = Math.min(100, plane.notShown.maximumPageSize);
  const revocations = 2 * maxAttempts * new Set(sent.flatMap(({ deletedId }) => deletedId ?? [])).size;
  switch (expects.mode) {
    case 'wait-operation': {
      const interval = Number.parseInt(inputs['poll-interval'] ?? '', 10) * 1_000 || 490;
      // A project that was removed meanwhile may have had as many as the largest.
      const listed = expects.projectIds.map((id) => stage.listedOperations(id)?.length ?? 260);
      const pages = Math.ceil(Math.min(1_000, Math.max(...listed) * listed.length) / pageSize) + 1;
      const perPoll =
        expects.ids === 'all'
          ? pages * listed.length + operations.length
          : expects.ids.length + (expects.ids.length > 2 ? pages : 0);
      if (timeoutMs === 0) return perPoll;
      const polls = 2 + (endedAt - startedAt) / interval;
      return polls * perPoll + Math.min(failed, maxAttempts * perPoll) + failed + throttled;
    }
    case 'list-operations':
      return Math.ceil(260 / pageSize) + 6 + failed;
    case 'list-projects': {
      const pages = Math.ceil(40 / Math.min(pageSize, plane.notShown.projectsPageSize || pageSize));
      // A list that lacks projects is read again from its beginning.
      const partial = sent.filter(({ fault }) => fault === 'partial-list').length;
      return pages * Math.min(maxAttempts, 1 + partial) + 6 + failed;
    }
    case 'list-keys':
      return maxAttempts + throttled;
    case 'create-key':
      return maxAttempts * (1 + maxAttempts + revocations) + throttled;
    default:
      // A sweep reads the list twice. After a list that was throttled, the next revocation requests it again.
      return (expects.mode === 'sweep-keys' ? 2 : 1) * maxAttempts + revocations + 2 * throttled;
  }
}

/** If not all requests fit side by side, the final poll may begin this long before the deadline. */
const maxLead = 2_400;

function* tooEarly(step: StepRecord, { sent, part }: ProcessRecord, slackMs: number) {
  if (excuses.pollsOnce(step)) return;
  const { mode } = step.plan;
  const isWait = mode === 'wait-operation';
  // The requests of the final poll do not wait for each other, nor for a poll that failed.
  const lead = givenIds(step) > maxConcurrent ? maxLead : 0;
  const finalPollFrom = isWait ? step.deadline - lead : Number.POSITIVE_INFINITY;
  for (const [index, first] of sent.entries()) {
    const { at, retryAfter, endedAt, status, isThrottled } = first;
    const isRetried = isThrottled || status === 408 || status === 425 || status >= 500;
    if (retryAfter === undefined || endedAt === undefined || !isRetried || at >= finalPollFrom) continue;
    const end = (asked: number) => endedAt + asked - 1 - Math.min(slackMs, 5);
    const isPollFailure = isWait && !isThrottled;
    const until = isPollFailure ? Math.min(end(Math.min(retryAfter, maxPollPause)), finalPollFrom) : end(retryAfter);
    const later = sent.slice(index + 1).filter((next) => next.at >= endedAt && next.at > at && next.at < until);
    const early = later.find((next) => isDelayedBy(mode, first, next, slackMs));
    if (early !== undefined)
      yield `${part}: request ${early.n} came at ${early.at}, but the Retry-After of request ${first.n} ends at ${until}`;
  }
}

/** A 429 delays all requests. A 423, or the failure of one of several concurrent requests, delays only its repetition. */
function isDelayedBy(mode: string, first: SentRequest, next: SentRequest, slackMs: number): boolean {
  // A concurrent request may leave before the client has read the response.
  const isConcurrent = !mode.startsWith('list-') && next.at <= (first.endedAt ?? 0) + slackMs / 20;
  if (first.method === next.method && first.list === next.list) return !isConcurrent || slackMs === 0;
  return !isConcurrent && first.status !== 423 && (first.status === 429 || mode !== 'wait-operation');
}
