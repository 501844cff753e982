import { expect, test } from 'vitest';
import { jobOf, jobsAlone, needsService } from '../../official/workflow.js';

test.for([
  ['{ run: a, working-directory: b }', 'working-directory'],
  ['{ wait: gate, if: always() }', 'if'],
  ['{ uses: actions/cache@v4 }', 'actions/cache@v4'],
] as const)('the step %s is rejected, because the worker would ignore %s', ([step, named]) => {
  expect(() => jobOf(`jobs: { job: { runs-on: ubuntu-latest, steps: [${step}] } }`, 'job')).toThrow(named);
});

test('a job runs alone only if it has no needs, no matrix and no reusable workflow', () => {
  const workflow = `
jobs:
  alone: { steps: [] }
  second: { needs: alone, steps: [] }
  matrix: { strategy: { matrix: { a: [1] } }, steps: [] }
  reused: { uses: ./.github/workflows/other.yml }`;

  expect(jobsAlone(workflow)).toEqual(['alone']);
  expect([workflow, 'jobs: { alone: { steps: [] } }'].map(needsService)).toEqual([true, false]);
  expect(() => jobOf(workflow, 'second')).toThrow('needs');
  expect(() => jobOf(workflow, 'none')).toThrow('There is no job none.');
});
