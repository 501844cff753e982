import type { Run, StepRecord } from '../record.js';
import { grace, pollsOnceFor, postTimeout } from '../truth.js';
import { alarmsAreDue } from './alarms.js';
import { healthyWaitsSucceed } from './healthy-waits.js';
import { noKeyIsLeft, otherKeysStay, revocationsAreTrue } from './keys.js';
import { noSecretLeaves } from './secrets.js';
import { waitsAreTrue } from './waits.js';

type Judge = (step: StepRecord, run: Run) => Iterable<string>;

/** What holds for every step of every run, whatever goes wrong. Each yields its violations. */
const judges: Readonly<Record<string, Judge>> = {
  'waits are true': waitsAreTrue,
  'healthy waits succeed': healthyWaitsSucceed,
  'revocations are true': revocationsAreTrue,
  'no key is left': noKeyIsLeft,
  'alarms are due': alarmsAreDue,
  'other keys stay': otherKeysStay,
  'no secret leaves': noSecretLeaves,
  'ends in time': endsInTime,
  'ends as it says': endsAsItSays,
};

/** Main ends by its deadline + 2 s, and within 2 s of a signal. Post ends within 20 s + 2 s. */
function* endsInTime({ main, post, plan, deadline, processes }: StepRecord) {
  const { startedAt, endedAt, signalledAt = Number.POSITIVE_INFINITY } = main;
  for (const { part, exit } of processes) if (exit === 'hung') yield `${part} did not end`;
  const limits: [what: string, ended: number, limit: number][] = [
    ['main, after its deadline', endedAt, deadline + grace],
    ['main, after the signal', endedAt, signalledAt + grace],
  ];
  if (plan.timeoutMs === 0) limits.push(['a single poll', endedAt, startedAt + pollsOnceFor + grace]);
  if (post !== undefined) limits.push(['post', post.endedAt, post.startedAt + postTimeout + grace]);
  for (const [what, ended, limit] of limits)
    if (ended > limit) yield `${what}: ended ${Math.round(ended - limit)} ms late`;
}

/** A step is green only with the status of a success, and no step crashes. */
function* endsAsItSays({ main, plan, processes }: StepRecord) {
  const isGood = ['finished', 'ok', 'revoked', 'not-found'].includes(main.status);
  if (main.exit === 0 && !isGood) yield `success with the status ${main.status}`;
  if (main.exit === 1 && isGood && main.status !== 'not-found') yield `a failure with the status ${main.status}`;
  if (main.exit === 0 && main.runnerFailed && plan.runnerFault?.kind !== 'summary')
    yield 'success, although the runner rejected a message';
  for (const { part, crash } of processes)
    if (crash !== undefined && !crash.includes('ENOSPC')) yield `${part} crashed: ${crash}`;
}

export function violationsOf(run: Run): string[] {
  return Object.entries(judges).flatMap(([rule, judge]) =>
    run.steps.flatMap((step) => Array.from(judge(step, run), (problem) => `${rule}: ${problem}`)),
  );
}
