import type { Run, StepRecord } from '../record.js';
import { pollsOnceFor, postTimeout } from '../truth.js';
import { calmRunsSucceed } from './calm-runs-succeed.js';
import { healthyWaitsSucceed } from './healthy-waits-succeed.js';
import { listsAreWhole } from './lists-are-whole.js';
import { alarmsAreDue, noKeyIsLeft } from './no-key-is-left.js';
import { noSecretLeaves } from './no-secret-leaves.js';
import { otherKeysStay } from './other-keys-stay.js';
import { requestsAreFew } from './requests-are-few.js';
import { retriesAreEnough } from './retries-are-enough.js';
import { statusAgreesWithExit } from './status-agrees-with-exit.js';
import { successIsTrue } from './success-is-true.js';

const grace = 2_000;

/** What holds for every step of every run, whatever goes wrong. Each yields its violations. */
const invariants: Readonly<Record<string, (step: StepRecord, run: Run) => Iterable<string>>> = {
  'success is true': successIsTrue,
  'no key is left': noKeyIsLeft,
  'alarms are due': alarmsAreDue,
  'other keys stay': otherKeysStay,
  'no secret leaves': noSecretLeaves,
  'ends in time': endsInTime,
  'requests are few': requestsAreFew,
  'retries are enough': retriesAreEnough,
  'status agrees with exit': statusAgreesWithExit,
  'lists are whole': listsAreWhole,
  'calm runs succeed': calmRunsSucceed,
  'healthy waits succeed': healthyWaitsSucceed,
};

/** Main ends by its deadline + 2 s, and within 2 s of a signal. Post ends within 20 s + 2 s. */
function* endsInTime(step: StepRecord) {
  const { main, post, plan, deadline, processes } = step;
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

export function violationsOf(run: Run): string[] {
  return Object.entries(invariants).flatMap(([rule, check]) =>
    run.steps.flatMap((step) => Array.from(check(step, run), (problem) => `${rule}: ${problem}`)),
  );
}
