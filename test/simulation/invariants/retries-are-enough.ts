import { type Run, type SentRequest, type StepRecord, texts } from '../record.js';
import {
  ambiguousCreates,
  deadlineOf,
  endedByItself,
  endOf,
  isFaulty,
  isIncompleteKeyList,
  isPermanent,
  isThrottled,
  lagOf,
  maxAmbiguousCreates,
  removalOf,
  retryAfterOf,
  statusOf,
} from '../truth.js';

const maxAttempts = 5;

/** A step does not give up before its deadline, its attempts, or the time that a 404 is tolerated. */
export function retriesAreEnough(run: Run): string[] {
  return run.steps.flatMap((step) => [...givenUpEarly(run, step), ...notFoundEarly(run, step), ...delayed(run, step)]);
}

/** Transient failures get 5 attempts. A 423 or 429 is no failure: it is retried until the deadline. */
function givenUpEarly({ stage }: Run, step: StepRecord): string[] {
  const { main, plan } = step;
  const deadline = deadlineOf(step);
  if (
    statusOf(main) !== 'error' ||
    !endedByItself(main) ||
    plan.timeoutMs === 0 ||
    main.endedAt >= deadline ||
    plan.runnerFault !== undefined
  )
    return [];
  const isRejected = main.sent.some((sent) => isPermanent(sent) || isIncompleteKeyList(sent));
  const isTooLong = main.sent.some((sent) => (sent.endedAt ?? 0) + (retryAfterOf(sent) ?? 0) > deadline);
  // An unusable record, or a name that several keys or none have, is an error of its own.
  const isOther =
    texts(main, 'error').some((text) => text.includes('unusable response')) ||
    (plan.mode === 'revoke-key' && main.sent.every(({ method }) => method === 'GET')) ||
    stage.revokedByOthers.size > 0;
  const failures = new Map<string, number>();
  for (const sent of main.sent.filter((one) => isFaulty(one) && !isThrottled(one)))
    failures.set(requestOf(sent), (failures.get(requestOf(sent)) ?? 0) + 1);
  const hasFailedOften = Math.max(0, ...failures.values()) >= maxAttempts;
  const hasCreatedOften = ambiguousCreates(main).length >= maxAmbiguousCreates;
  return isRejected || isTooLong || isOther || hasFailedOften || hasCreatedOften
    ? []
    : [`gave up before the deadline and before ${maxAttempts} attempts: ${texts(main, 'error')[0]}`];
}

function requestOf({ method, path }: SentRequest): string {
  return `${method} ${path}`;
}

const graceForNew = 5_000;
const graceForSeen = 30_000;

/** A 404 for an operation is tolerated for 5 s, and for 30 s after the operation was seen. */
function notFoundEarly({ stage }: Run, { main, plan }: StepRecord): string[] {
  const isGivenUp =
    statusOf(main) === 'error' &&
    texts(main, 'error').some((text) => /has no operation|no longer has operation/.test(text));
  if (plan.mode !== 'wait-operation' || plan.timeoutMs === 0 || !isGivenUp) return [];
  const isEarly = [...new Set(main.sent.map(({ path }) => path))].every((path) => {
    const polls = main.sent.filter((sent) => sent.path === path && sent.response !== undefined);
    const seen = polls.findLastIndex((sent) => sent.response?.status === 200 && !isFaulty(sent));
    const missing = polls.slice(seen + 1).find(({ response }) => response?.status === 404);
    const grace = (seen >= 0 ? graceForSeen : graceForNew) - stage.slackMs;
    return missing === undefined || main.endedAt - (missing.endedAt ?? 0) < grace;
  });
  return isEarly ? ['gave up an operation too early'] : [];
}

/** A request waits so long in silence before the others go on. */
const silenceMs = 1_000;

/** A request for one operation that hangs does not delay the failure of another. */
function delayed({ stage }: Run, step: StepRecord): string[] {
  const { main, plan } = step;
  const { expects } = plan;
  if (expects.mode !== 'wait-operation' || expects.ids === 'all' || expects.ids.length > 2) return [];
  if (!expects.failFast || plan.timeoutMs === 0 || plan.runnerFault !== undefined) return [];
  if (main.exit === 'killed' || main.signalledAt !== undefined || statusOf(main) === 'error') return [];
  return expects.ids.flatMap((id) => {
    const operation = stage.operations.find((one) => one.id === id);
    const isClear = main.sent.every(({ path, fault }) => !path.includes(id) || fault === undefined);
    const others = main.sent.filter(({ path }) => !path.includes(id));
    // A 429 delays all requests.
    const isSlow = others.every(({ fault }) => fault === undefined || /^(hang|delay|drip|cut)/.test(fault));
    if (operation === undefined || !isClear || !isSlow || operation.appearsAfterMs > 0) return [];
    const isRemoved = !stage.plane.hasProject(operation.projectId) || Number.isFinite(removalOf(operation));
    const { at, phase } = endOf(operation);
    if (isRemoved || phase !== 'bad' || at > deadlineOf(step)) return [];
    const from = Math.max(at, main.startedAt);
    const latest = from + lagOf(step, from) + silenceMs + 8 * stage.tripMs + 10 + stage.slackMs;
    return main.endedAt > latest ? [`saw a failure ${Math.round(main.endedAt - from)} ms late`] : [];
  });
}
