import { forgeryIn, output, type ProcessRecord, type Run, type StepRecord, said } from '../record.js';
import { deadlineOf, endedFreely, statusWord, wasPutOff } from '../truth.js';

const good = ['finished', 'ok', 'revoked', 'gone'];
const known = [...good, 'failed', 'timeout', 'cancelled', 'error', 'empty', 'match'];
/** Something to do, or something to ask oneself. */
const advice =
  /\b(Look|Check|check (the|its|them)|Raise|raise timeout|Put|Use|Run the step|Revoke it|Set|are found|report|See the summary|set a timeout|sweep-keys)\b|\?/;

/** Status and exit always agree; every failing end has one error that names what to do. */
export function statusAgreesWithExit(run: Run): string[] {
  return run.steps.flatMap((step) => [...ofMain(step), ...ofPost(step)]);
}

function ofMain(step: StepRecord): string[] {
  const { main } = step;
  if (main.exit === 'killed' || main.exit === 'hung') return [];
  const errors = said(main, 'error');
  if (main.runnerFailed && step.plan.runnerFault?.word !== 'summary')
    return main.exit === 0 || errors.length === 0 ? ['what the runner did not take was no failure'] : [];
  const status = statusWord(main) ?? 'none';
  const problems: string[] = [];
  if (!known.includes(status)) problems.push(`the status is ${status}`);
  if (good.includes(status) !== (main.exit === 0)) problems.push(`status ${status} with exit ${main.exit}`);
  if (output(main, 'duration-ms') !== String(Math.round(main.endedAt - main.startedAt)))
    problems.push(`duration-ms is ${output(main, 'duration-ms')}, but it took ${main.endedAt - main.startedAt}`);
  if (main.exit === 0 && step.plan.mode !== 'create-key' && main.resultFile === undefined)
    problems.push('green without a file that holds the result');
  const mustTell = main.exit === 1 && status !== 'cancelled';
  if (errors.length !== (mustTell ? 1 : 0)) problems.push(`${errors.length} errors with status ${status}`);
  for (const { text } of errors)
    if (!advice.test(text)) problems.push(`an error without a word on what to do: ${text}`);
  if (status === 'cancelled' && main.signalledAt === undefined) problems.push('cancelled, but nobody did');
  if (
    errors.some(({ text }) => /Timed out after /.test(text)) &&
    main.endedAt < deadlineOf(step) &&
    !wasPutOff(main, deadlineOf(step))
  )
    problems.push('the time is said to be up, but it is not');
  if (errors.some(({ text }) => text.includes('ended without a result'))) problems.push(`a defect: ${errors[0]?.text}`);
  if (step.plan.inputs['summary'] !== 'false' && endedFreely(main) && said(main, 'summary').length !== 1)
    problems.push(`${said(main, 'summary').length} summaries`);
  return problems;
}

function ofPost(step: StepRecord): string[] {
  const {
    post,
    plan: { expects },
  } = step;
  if (post === undefined || forgeryIn(step) !== undefined || expects.mode !== 'create-key' || !endedFreely(post))
    return [];
  const errors = said(post, 'error');
  const warnings = said(post, 'warning').filter(({ text }) => isAlarm(text));
  const problems: string[] = [];
  if (post.crash !== undefined) problems.push(`post crashed: ${post.crash}`);
  if (post.exit === 1 && !(expects.fails && errors.length === 1))
    problems.push(`post is red with ${errors.length} errors`);
  if (post.exit === 0 && errors.length > 0) problems.push('post is green with an error');
  if (expects.fails && warnings.length > 0) problems.push('post warns where it is to fail');
  for (const { text } of [...errors, ...warnings]) {
    if (!advice.test(text)) problems.push(`nothing on what to do: ${text}`);
    if (text.includes('request-timeout')) problems.push(`post speaks of an input that it has no use for: ${text}`);
  }
  return problems;
}

/** Whether it says that a key may be alive. */
export function isAlarm(text: string): boolean {
  return /Could not confirm|may be left|Could not check whether a key still exists/.test(text);
}

export function alarms(process: ProcessRecord): string[] {
  return said(process, 'warning', 'error').flatMap(({ text }) => (isAlarm(text) ? [text] : []));
}
