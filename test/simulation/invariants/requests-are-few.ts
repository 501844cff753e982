import type { ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import { maxAmbiguousCreates, maxAttempts } from '../truth.js';

/** A longer `Retry-After` counts as this. */
const longestInPost = 2_000;
/** In all modes. The last poll of a wait begins with another burst. */
const maxConcurrent = 12;
const burst = 8;
const perSecond = 9.5;
/** A 429 without `Retry-After` holds all requests so long. */
const usualHold = 1_000;

/** Few creates are ambiguous, no request precedes the end of a `Retry-After`, and the number of requests is bounded. */
export function* requestsAreFew(step: StepRecord, run: Run): Generator<string> {
  yield* repeatedCreates(step);
  yield* tooFast(step);
  yield* tooManyConcurrent(step);
  yield* pollsWithoutPause(step);
  for (const process of step.processes) {
    yield* tooMany(run, step, process);
    yield* tooEarly(step, process);
  }
}

/** Only create-key creates, and after three ambiguous creates no more. */
function* repeatedCreates({ main, processes, plan: { mode } }: StepRecord) {
  for (const { part, sent } of processes)
    if ((part === 'post' || mode !== 'create-key') && sent.some(({ method }) => method === 'POST'))
      yield `${part} sent a POST`;
  if (main.ambiguousCreates > maxAmbiguousCreates) yield `${main.ambiguousCreates} creates that may have taken effect`;
}

function* tooMany(run: Run, step: StepRecord, process: ProcessRecord) {
  const { part, sent, startedAt, endedAt } = process;
  const max = maxRequests(run, step, process);
  if (sent.length > max) yield `${part} sent ${sent.length} requests, expected at most ${max}`;
  const throttled = sent.filter(({ isThrottled }) => isThrottled).length;
  // A 429 without `Retry-After` is repeated after about a second.
  const each = 12 + (endedAt - startedAt) / usualHold;
  if (throttled > each * concurrencyOf(step)) yield `${part} was throttled ${throttled} times`;
}

/** One that has no response for so long is given up as one of the concurrent ones. */
const hangsAfter = 2_000;

function* tooManyConcurrent({ main, deadline }: StepRecord) {
  const { sent, endedAt } = main;
  const isPendingAt = (ms: number) => (one: SentRequest) =>
    one.at <= ms && one.at + hangsAfter > ms && (one.endedAt ?? endedAt) > ms;
  const most = (at: number) => maxConcurrent + (at >= deadline ? burst : 0);
  const crowded = sent.find(({ at }) => sent.filter(isPendingAt(at)).length > most(at));
  if (crowded !== undefined) yield `${main.part} had more than ${maxConcurrent} requests pending at ${crowded.at}`;
}

/** A bucket of 8 tokens, which gets 9.5 a second. The last poll of a wait has another 8. */
function* tooFast({ main, deadline }: StepRecord): Generator<string> {
  let [tokens, last, free] = [burst, main.startedAt, burst];
  for (const { n, at } of main.sent) {
    tokens = Math.min(burst, tokens + ((at - last) / 1_000) * perSecond) - 1;
    last = at;
    if (tokens < -0.1 && at >= deadline && free-- > 0) tokens++;
    if (tokens < -0.1) return yield `request ${n} came too fast`;
  }
}

/** A poll asks once for each page and operation, and the next one follows after a pause. */
function* pollsWithoutPause(step: StepRecord): Generator<string> {
  const { main, plan, deadline } = step;
  // After a hold, or behind others, the requests of a poll may be sent long after its begin.
  const isCrowded = plan.expects.mode === 'wait-operation' && plan.expects.ids.length > burst;
  const isQueued = isCrowded || main.sent.some(({ status }) => status === 429);
  if (plan.mode !== 'wait-operation' || isQueued) return;
  const last = new Map<string, SentRequest>();
  for (const one of main.sent) {
    const { at, n, endedAt = main.endedAt } = last.get(one.path) ?? { at: Number.NEGATIVE_INFINITY, n: 0 };
    // A poll does not wait longer for a request that hangs.
    const from = Math.min(endedAt, at + hangsAfter);
    const pause = step.pauseAt(from);
    if (one.at < deadline && one.at < from + pause - 1)
      return yield `request ${one.n} repeats request ${n} after ${Math.round(one.at - from)} ms, instead of ${Math.round(pause)}`;
    last.set(one.path, one);
  }
}

/** A 423 for one of many delays no other, so each can get as many as one alone. */
function concurrencyOf({ keys, plan: { mode } }: StepRecord): number {
  if (mode === 'wait-operation') return Number.POSITIVE_INFINITY;
  return mode === 'revoke-key' || mode === 'sweep-keys' ? 20 : Math.max(2, keys.length);
}

function maxRequests({ stage }: Run, step: StepRecord, process: ProcessRecord): number {
  const { plane } = stage;
  const { expects } = step.plan;
  const { sent, part } = process;
  if (part === 'post') return 40 * (2 + 2 * step.keys.length);
  const failed = sent.filter(({ isFaulty }) => isFaulty).length;
  // A 401 is repeated for 10 s, and each list that is not whole 5 times.
  const isRepeated = ({ isThrottled, status, keyList }: SentRequest) =>
    isThrottled || status === 401 || keyList === 'incomplete';
  const again = sent.filter(isRepeated).length;
  const pageSize = Math.min(100, plane.notShown.maximumPageSize);
  switch (expects.mode) {
    case 'wait-operation':
      return Number.POSITIVE_INFINITY;
    case 'list-operations':
      return Math.ceil(260 / pageSize) + 6 + failed;
    case 'list-projects':
      return Math.ceil(40 / Math.min(pageSize, plane.notShown.projectsPageSize || pageSize)) + 6 + failed;
    case 'list-keys':
      return maxAttempts + again;
    case 'create-key':
      return maxAttempts + again;
    default:
      // Lists are read for some 50 s, and after each of them a DELETE may follow for each key.
      return maxAttempts + 40 * (1 + new Set(sent.flatMap(({ deletedId }) => deletedId ?? [])).size) + failed + again;
  }
}

function* tooEarly({ plan, deadline }: StepRecord, { sent, part }: ProcessRecord) {
  const isWait = plan.mode === 'wait-operation';
  // The last poll of a wait begins in spite of a hold.
  const lastPollFrom = isWait ? deadline : Number.POSITIVE_INFINITY;
  for (const [index, first] of sent.entries()) {
    const { at, endedAt, status, isThrottled } = first;
    const asked = first.retryAfter ?? (isWait && status === 429 ? usualHold : undefined);
    const retryAfter = part === 'post' && asked !== undefined ? Math.min(asked, longestInPost) : asked;
    const isRetried = isWait ? status === 429 : isThrottled || status === 408 || status === 425 || status >= 500;
    if (retryAfter === undefined || endedAt === undefined || !isRetried || at >= lastPollFrom) continue;
    const until = Math.min(endedAt + retryAfter - 1, lastPollFrom);
    const later = sent.slice(index + 1).filter((next) => next.at >= endedAt && next.at > at && next.at < until);
    const early = later.find((next) => isDelayedBy(plan.mode, first, next));
    if (early !== undefined)
      yield `${part}: request ${early.n} came at ${early.at}, but the Retry-After of request ${first.n} ends at ${until}`;
  }
}

/** A 429 delays all requests. Anything else delays only its own repetition. */
function isDelayedBy(mode: string, first: SentRequest, next: SentRequest): boolean {
  if (first.method === next.method && first.list === next.list) return true;
  // A concurrent request may leave before the client has read the response.
  const isConcurrent = !mode.startsWith('list-') && next.at <= (first.endedAt ?? 0);
  return !isConcurrent && first.status === 429;
}
