import { forgeryIn, output, type ProcessRecord, type Run, type StepRecord, texts } from '../record.js';
import { deadlineOf, endedByItself, isAlarm, isToldToWaitPast, statusOf, wrong } from '../truth.js';

const good = ['finished', 'ok', 'revoked', 'gone'];
const known = [...good, 'failed', 'timeout', 'cancelled', 'error', 'empty', 'match'];
const advice =
  /\b(Look|Check|check (the|its|them)|Raise|raise timeout|Put|Use|Re-run|re-run|Revoke it|Set|are found|report|See the summary|set a timeout|sweep-keys)\b|\?/;
const noWordForUsers = /defect|undefined|\[object|ended without a result/;

/** Status and exit code agree. Each failure has one error, which says what to do. */
export function statusAgreesWithExit({ stage, steps }: Run): string[] {
  return steps.flatMap((step) => [...mainProblems(step, stage.slackMs), ...postProblems(step)]);
}

function mainProblems(step: StepRecord, slackMs: number): string[] {
  const { main, plan } = step;
  if (main.exit === 'killed' || main.exit === 'hung') return [];
  const status = statusOf(main);
  const errors = texts(main, 'error');
  if (main.runnerFailed && plan.runnerFault?.kind !== 'summary')
    return main.exit === 0 || errors.length === 0 ? ['a message that the runner rejected was no failure'] : [];
  const ms = main.endedAt - main.startedAt;
  const duration = Number(output(main, 'duration-ms'));
  const expectedErrors = main.exit === 1 && status !== 'cancelled' ? 1 : 0;
  const isEarly = main.endedAt < deadlineOf(step) - slackMs && !isToldToWaitPast(deadlineOf(step), main);
  const hasResultFile = main.resultFile !== undefined || plan.mode === 'create-key';
  const problems = wrong([
    [!known.includes(status), `the status is ${status}`],
    [good.includes(status) !== (main.exit === 0), `status ${status} with exit ${main.exit}`],
    [!(Math.abs(duration - ms) <= 0.5 + slackMs), `duration-ms is ${duration}, but the step took ${ms}`],
    [main.exit === 0 && !hasResultFile, 'success without a result file'],
    [errors.length !== expectedErrors, `${errors.length} errors with status ${status}`],
    [status === 'cancelled' && main.signalledAt === undefined, 'cancelled without a signal'],
    [isEarly && errors.some((text) => text.includes('Timed out after')), 'an error names a deadline that is not over'],
    [main.exit === 1 && output(main, 'key') !== undefined && output(main, 'key') !== '', 'a failed step has a key'],
    [
      plan.inputs['summary'] !== 'false' && endedByItself(main) && texts(main, 'summary').length !== 1,
      'not one summary',
    ],
  ]);
  return [...problems, ...badTexts(main, errors)];
}

function postProblems(step: StepRecord): string[] {
  const { post, plan } = step;
  const { expects } = plan;
  if (post === undefined || forgeryIn(step) !== undefined || expects.mode !== 'create-key' || !endedByItself(post))
    return [];
  const errors = texts(post, 'error');
  const warnings = texts(post, 'warning').filter(isAlarm);
  const problems = wrong([
    [post.crash !== undefined, `post crashed: ${post.crash}`],
    [post.exit === 1 && !(expects.fails && errors.length === 1), `post failed with ${errors.length} errors`],
    [post.exit === 0 && errors.length > 0, 'post succeeded with an error'],
    [expects.fails && warnings.length > 0, 'post warns although it must fail'],
    [[...errors, ...warnings].some((text) => text.includes('request-timeout')), 'post names an input that it ignores'],
  ]);
  return [...problems, ...badTexts(post, [...errors, ...warnings])];
}

function badTexts(process: ProcessRecord, toAdvise: readonly string[]): string[] {
  return [
    ...toAdvise.filter((text) => !advice.test(text)).map((text) => `a message without advice: ${text}`),
    ...texts(process, 'error', 'warning')
      .filter((text) => noWordForUsers.test(text))
      .map((text) => `not a message for users: ${text}`),
  ];
}
