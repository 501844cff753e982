import type { Run, StepRecord } from '../record.js';
import { calmRunsSucceed } from './calm-runs-succeed.js';
import { endsInTime } from './ends-in-time.js';
import { listsAreWhole } from './lists-are-whole.js';
import { noKeyIsLeft } from './no-key-is-left.js';
import { noSecretLeaves } from './no-secret-leaves.js';
import { oneKeyAtATime } from './one-key-at-a-time.js';
import { postIsNotMisled } from './post-is-not-misled.js';
import { requestsAreFew } from './requests-are-few.js';
import { retriesAreEnough } from './retries-are-enough.js';
import { statusAgreesWithExit } from './status-agrees-with-exit.js';
import { successIsTrue } from './success-is-true.js';
import { warningsAreTrue } from './warnings-are-true.js';

/** What holds for every step of every run, whatever goes wrong. Each yields its violations. */
const invariants: Readonly<Record<string, (step: StepRecord, run: Run) => Iterable<string>>> = {
  'success is true': successIsTrue,
  'no key is left': noKeyIsLeft,
  'one key at a time': oneKeyAtATime,
  'no secret leaves': noSecretLeaves,
  'post is not misled': postIsNotMisled,
  'ends in time': endsInTime,
  'requests are few': requestsAreFew,
  'retries are enough': retriesAreEnough,
  'status agrees with exit': statusAgreesWithExit,
  'lists are whole': listsAreWhole,
  'warnings are true': warningsAreTrue,
  'outputs are safe': outputsAreSafe,
  'calm runs succeed': calmRunsSucceed,
  'processes are sound': ({ processes }) => processes.flatMap(({ problems }) => problems),
};

/** A later step may print any output. None but the key, which is masked, contains a command of the runner. */
function* outputsAreSafe({ main: { messages, resultFile } }: StepRecord) {
  for (const { kind, name, text } of messages)
    if (kind === 'output' && name !== 'key' && (text.includes('##[') || /^\s*::/m.test(text)))
      yield `a command in the output ${name}`;
  if (resultFile?.includes('##[')) yield 'a command in the result file';
}

/** The violations of a run, each with its invariant. */
export function violationsOf(run: Run): string[] {
  return Object.entries(invariants).flatMap(([rule, check]) =>
    run.steps.flatMap((step) => Array.from(check(step, run), (problem) => `${rule}: ${problem}`)),
  );
}
