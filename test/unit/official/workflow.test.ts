import { expect, test } from 'vitest';
import { jobOf } from '../../official/workflow.js';

test.for([
  ['{ run: a, working-directory: b }', 'working-directory'],
  ['{ run: a, background: true }', 'background'],
  ['{ uses: actions/cache@v4 }', 'actions/cache@v4'],
] as const)('the step %s is rejected, because the worker would ignore %s', ([step, named]) => {
  expect(() => jobOf(`jobs: { job: { runs-on: ubuntu-latest, steps: [${step}] } }`, 'job')).toThrow(named);
});
