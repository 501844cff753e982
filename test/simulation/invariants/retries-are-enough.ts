import type { Run, SentRequest, StepRecord } from '../record.js';
import { maxAmbiguousCreates, maxAttempts } from '../truth.js';

/** A step does not give up before its deadline, its attempts, or the time that a 404 is tolerated. */
export function* retriesAreEnough(step: StepRecord, run: Run): Generator<string> {
  if (step.plan.timeoutMs === 0) return;
  yield* givenUpEarly(step, run);
  yield* notFoundEarly(step, run);
  yield* silent(step, run);
  yield* keptOpen(step, run);
}

/**
 * Transient failures get 5 attempts, and in a wait 30 s before a first success, and all of its time after it. A 423 or 429 is
 * no failure: it is retried until the deadline.
 */
function* givenUpEarly({ main, plan, deadline }: StepRecord, { stage }: Run) {
  const { sent } = main;
  const isWait = plan.mode === 'wait-operation';
  const [error = ''] = main.texts('error');
  const isGivenUp = main.status === 'error' && main.endedByItself && main.endedAt < deadline;
  if (!isGivenUp || plan.runnerFault !== undefined) return;
  const isRejected = sent.some(({ isPermanent, retryAt }) => isPermanent || (!isWait && retryAt > deadline));
  // An unusable record, or a name that several keys or none have, is an error of its own.
  const isOther =
    main.texts('error').some((text) => text.includes('unusable response')) ||
    (plan.mode === 'revoke-key' && sent.every(({ method }) => method === 'GET')) ||
    stage.revokedByOthers.size > 0;
  const failures = sent.filter(({ isFaulty, isThrottled }) => isFaulty && !isThrottled);
  const hasFailedOften = failures.some(({ method, path, projectId, at }) => {
    const alike = failures.filter((other) => other.method === method && other.path === path);
    const last = alike.at(-1);
    const end = last?.endedAt ?? main.endedAt;
    if (!isWait) return alike.length >= maxAttempts;
    const usable = sent.filter((one) => one.projectId === projectId && isUsable(one));
    const isBeforeSuccess = usable.every((one) => (one.endedAt ?? end) >= end);
    // No attempt is made that would begin too late.
    const ms = Math.max(end, last?.retryAt ?? 0) - at + stage.slackMs;
    return isBeforeSuccess && (ms >= lastAttempt || (ms >= graceForSilent && alike.length >= maxAttempts));
  });
  const hasCreatedOften = main.ambiguousCreates >= maxAmbiguousCreates;
  if (!isRejected && !main.hasIncompleteList && !isOther && !hasFailedOften && !hasCreatedOften)
    yield `gave up before the deadline and before ${maxAttempts} attempts: ${error}`;
}

/** An operation without a status makes its response unusable, and so does a missing list. */
function isUsable({ json, records }: SentRequest): boolean {
  return Boolean(json) && records?.every(({ status }) => typeof status === 'string' && status !== '') === true;
}

const graceForSilent = 30_000;
const lastAttempt = 60_000;
const graceForNew = 5_000;
const graceForSeen = 30_000;

/** A 404 for an operation is tolerated for 5 s, and for 30 s after the operation was seen. A page is none. */
function* notFoundEarly({ main, plan: { mode } }: StepRecord, { stage }: Run) {
  const isGivenUp = main.texts('error').some((text) => /has no operation|no longer has operation/.test(text));
  if (mode !== 'wait-operation' || main.status !== 'error' || !isGivenUp) return;
  const isEarly = main.sent.every(({ path }) => {
    const polls = main.sent.filter((sent) => sent.path === path && sent.response !== undefined);
    const seen = polls.findLastIndex(({ status, isFaulty }) => status === 200 && !isFaulty);
    const missing = polls.slice(seen + 1).find(({ status, isPage }) => status === 404 && !isPage);
    const grace = (seen >= 0 ? graceForSeen : graceForNew) - stage.slackMs;
    return missing === undefined || main.endedAt - (missing.endedAt ?? 0) < grace;
  });
  if (isEarly) yield 'gave up an operation too early';
}

/** The longest pause of a wait, before its first success, and one that a failure asked for. */
const longestPause = { usual: 5_000, first: 30_000, asked: 60_000 };

/** Whatever fails, a wait goes on to poll: only a 423 or 429 delays it for longer than a minute. */
function* silent({ main, plan, deadline }: StepRecord, { stage }: Run) {
  const { sent, endedAt } = main;
  if (plan.mode !== 'wait-operation' || sent.some(({ isThrottled }) => isThrottled)) return;
  const isAsked = sent.some(({ retryAfter = 0 }) => retryAfter > longestPause.usual);
  const succeededAt = sent.find(({ json }) => json !== undefined)?.endedAt ?? Number.POSITIVE_INFINITY;
  let quietFrom = main.startedAt;
  for (const { at, endedAt: answeredAt = endedAt } of [...sent, { at: Math.min(endedAt, deadline) }]) {
    const ms = at - quietFrom;
    const longest = isAsked ? longestPause.asked : longestPause[at > succeededAt ? 'usual' : 'first'];
    if (ms > longest + longestPause.usual + stage.slackMs) yield `sent no request for ${Math.round(ms)} ms`;
    quietFrom = Math.max(quietFrom, answeredAt);
  }
}

/** A poll gives up a request that has had no response for so long, and sends it once more. */
const resendAfter = 5_000;

/** Only that second request may take longer. It follows once the pause of a 429 is over, and another request has ended. */
function* keptOpen({ main, plan, deadline }: StepRecord, { stage }: Run) {
  if (plan.mode !== 'wait-operation') return;
  const margin = 10 + stage.slackMs;
  for (const { n, at, path, fault, endedAt = main.endedAt } of main.sent) {
    const isSilent = fault === 'hang-before-headers' || fault === 'delay' || fault === 'outage';
    const isLong = isSilent && at < deadline && endedAt - at > resendAfter + margin;
    if (!isLong) continue;
    const previous = main.sent.findLast((one) => one.n < n && one.path === path);
    const { at: from = 0, endedAt: to = from, response } = previous ?? {};
    const wasGivenUp = response === undefined && Math.abs(to - from - resendAfter) <= margin;
    const isSecond = wasGivenUp && to <= at + stage.slackMs;
    if (!isSecond) yield `request ${n} was kept open for ${Math.round(endedAt - at)} ms without a response`;
  }
}
