import type { ProcessRecord, StepRecord } from '../record.js';

const good = ['finished', 'ok', 'revoked'];
const bad = ['failed', 'timeout', 'cancelled', 'error', 'empty', 'match'];
const advice =
  /\b(Look|Run|Check|check (the|its|them)|Raise|raise timeout|Put|Use|Re-run|re-run|Revoke it|Set|are found|report|Read all|set a timeout|sweep-keys|Give the job)\b|\?/;
const noWordForUsers = /: \.|defect|undefined|\[object|ended without a result/;

/** Status and exit code agree. Each failure has one error, which says what to do. */
export function* statusAgreesWithExit(step: StepRecord): Generator<string> {
  const { main, post, plan } = step;
  if (main.exit === 1 && good.includes(main.status)) yield `a failed step has the status ${main.status}`;
  if (main.exit === 0 || main.exit === 1) {
    const isRejected = main.runnerFailed && plan.runnerFault?.kind !== 'summary';
    if (!isRejected) yield* mainProblems(step);
    else if (main.exit === 0 || main.texts('error').length === 0)
      yield 'a message that the runner rejected was no failure';
  }
  if (post?.endedByItself && plan.expects.mode === 'create-key') yield* postProblems(step, post, plan.expects.fails);
}

function* mainProblems(step: StepRecord) {
  const { main, plan } = step;
  const { exit, status, endedAt } = main;
  const errors = main.texts('error');
  // A 423 or 429 whose `Retry-After` ends after the deadline ends the step at once, unless it waits for operations.
  const isToldToWait =
    plan.mode !== 'wait-operation' && main.sent.some((one) => one.isThrottled && one.retryAt > step.deadline);
  const isEarly = endedAt < step.deadline && !isToldToWait;
  const { expects } = plan;
  const isMissing = status === 'not-found' && expects.mode === 'revoke-key' && expects.ignores === (exit === 0);
  if (!isMissing && !(exit === 0 ? good : bad).includes(status))
    yield `the status is ${status}, and the exit code ${exit}`;
  if (exit === 0 && main.resultFile === undefined && plan.mode !== 'create-key') yield 'success without a result file';
  if (errors.length !== (exit === 1 && status !== 'cancelled' ? 1 : 0))
    yield `${errors.length} errors with status ${status}`;
  if (status === 'cancelled' && main.signalledAt === undefined) yield 'cancelled without a signal';
  const isTimeout =
    (status === 'timeout' && plan.timeoutMs > 0) || errors.some((text) => text.includes('Timed out after'));
  if (isEarly && isTimeout) yield 'a timeout before the deadline';
  if (exit === 1 && main.output('key')) yield 'a failed step has a key';
  if (plan.inputs['summary'] !== 'false' && main.endedByItself && main.texts('summary').length !== 1)
    yield 'not one summary';
  yield* badTexts(main, errors);
}

function* postProblems({ keys }: StepRecord, post: ProcessRecord, fails: boolean) {
  const { crash, exit, alarms } = post;
  const errors = post.texts('error');
  const warnings = post.texts('warning').filter((text) => alarms.includes(text));
  const told = [...errors, ...warnings];
  if (crash !== undefined) yield `post crashed: ${crash}`;
  if (exit === 1 && !(fails && errors.length === 1)) yield `post failed with ${errors.length} errors`;
  if (exit === 0 && errors.length > 0) yield 'post succeeded with an error';
  // A create that was lost is never an error.
  if (fails && warnings.some((text) => keys.some(({ id }) => new RegExp(`\\b${id}\\b`).test(text))))
    yield 'post warns although it must fail';
  if (told.some((text) => text.includes('request-timeout'))) yield 'post names an input that it ignores';
  yield* badTexts(post, told);
}

function* badTexts(process: ProcessRecord, toAdvise: readonly string[]) {
  for (const text of toAdvise) if (!advice.test(text)) yield `a message without advice: ${text}`;
  for (const text of process.texts('error', 'warning'))
    if (noWordForUsers.test(text)) yield `not a message for users: ${text}`;
}
