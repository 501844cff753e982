import type { ProcessRecord, Run, StepRecord } from '../record.js';
import { maxAmbiguousCreates, maxAttempts } from '../truth.js';

/** A step does not give up before its deadline, its attempts, or the time for which a wait is patient. */
export function* retriesAreEnough(step: StepRecord, run: Run): Generator<string> {
  if (step.plan.mode !== 'wait-operation') return yield* givenUpEarly(step, run);
  yield* silent(step);
  yield* keptOpen(step);
}

/** No attempt begins later after the first one. */
const lastAttempt = 60_000;
const longestBackoff = 8_000;

/** Transient failures get 5 attempts. A 423 or 429 is no failure: it is retried until the deadline. */
function* givenUpEarly({ main, plan, deadline }: StepRecord, { stage }: Run) {
  const { sent } = main;
  const [error = ''] = main.texts('error');
  const isGivenUp = main.status === 'error' && main.endedByItself && main.endedAt < deadline;
  if (!isGivenUp || plan.runnerFault !== undefined) return;
  const isRejected = sent.some(({ isPermanent, retryAt }) => isPermanent || retryAt > deadline);
  // An unusable record, or a name that several keys or none have, is an error of its own.
  const isOther =
    main.texts('error').some((text) => text.includes('unusable response')) ||
    (plan.mode === 'revoke-key' && sent.every(({ method }) => method === 'GET')) ||
    hasReadLong(main) ||
    (plan.mode === 'sweep-keys' && main.texts('error').some((text) => text.includes('workflow runs'))) ||
    stage.revokedByOthers.size > 0 ||
    stage.plane.notShown.lastPageCursor === 'repeated';
  const failures = sent.filter((one) => (one.isFaulty || one.isPartial) && !one.isThrottled);
  const hasFailedOften = failures.some(({ method, path }) => {
    const isSame = (other: { method: string; path: string }) => other.method === method && other.path === path;
    // The span begins with the first attempt, even if that was throttled.
    const first = sent.find(isSame)?.at ?? main.endedAt;
    return failures.filter(isSame).length >= maxAttempts || main.endedAt - first >= lastAttempt - longestBackoff;
  });
  const hasCreatedOften = main.ambiguousCreates >= maxAmbiguousCreates;
  if (!isRejected && !main.hasIncompleteList && !isOther && !hasFailedOften && !hasCreatedOften)
    yield `gave up before the deadline and before ${maxAttempts} attempts: ${error}`;
}

/** After the first DELETEs lists are read for 30 s, unless the next one would come later. */
function hasReadLong({ sent, endedAt: end }: ProcessRecord): boolean {
  const first = sent.find(({ deletedId }) => deletedId !== undefined);
  const until = (first?.endedAt ?? end) + 30_000;
  return first !== undefined && (end >= until - 2_500 || sent.some(({ retryAt }) => retryAt >= until - 2_500));
}

/** The longest pause of a wait, and its rest between two reads that agree. */
const longestPause = 5_000;

/** Whatever fails, a wait goes on to poll: only a 429 or a `Retry-After` delays it. */
function* silent({ main, deadline }: StepRecord) {
  const { sent, endedAt } = main;
  if (sent.some(({ status, retryAfter }) => status === 429 || retryAfter !== undefined)) return;
  let quietFrom = main.startedAt;
  for (const { at, endedAt: answeredAt = endedAt } of [...sent, { at: Math.min(endedAt, deadline) }]) {
    const ms = at - quietFrom;
    if (ms > longestPause + rounding) yield `sent no request for ${Math.round(ms)} ms`;
    quietFrom = Math.max(quietFrom, answeredAt);
  }
}

/** A poll gives up a request that has had no whole response for so long. The next one gets twice as long. */
const patience = { firstMs: 5_000, mostMs: 20_000 };
const rounding = 10;

function* keptOpen({ main, deadline }: StepRecord) {
  const allowed = new Map<string, number>();
  for (const { n, at, list, endedAt = main.endedAt } of main.sent) {
    const most = allowed.get(list) ?? patience.firstMs;
    // The end of the process closes its connections.
    const ms = Math.min(endedAt, main.endedAt) - at;
    if (at < deadline && ms > most + rounding)
      yield `request ${n} was kept open for ${Math.round(ms)} ms without a whole response`;
    if (ms >= patience.firstMs - rounding) allowed.set(list, Math.min(patience.mostMs, 2 * most));
  }
}
