import { expect, test } from 'vitest';
import { jobOf, jobsAlone, needsService } from '../../official/workflow.js';

test.for([
  ['{ run: a, working-directory: b }', 'working-directory'],
  ['{ wait: gate, if: always() }', 'if'],
  ['{ uses: actions/cache@v4 }', 'actions/cache@v4'],
] as const)('the step %s is rejected, because the worker would ignore %s', ([step, named]) => {
  expect(() => jobOf(`jobs: { job: { runs-on: ubuntu-latest, steps: [${step}] } }`, 'job')).toThrow(named);
});

test('only a job without needs, a matrix, a condition or another workflow runs alone', () => {
  const others = 'b: { needs: a }, c: { strategy: {} }, d: { if: false }, e: { uses: ./other.yml }';
  const workflow = `jobs: { a: { steps: [] }, ${others} }`;
  expect(jobsAlone(workflow)).toEqual(['a']);
  expect([workflow, 'jobs: { a: { steps: [] } }'].map(needsService)).toEqual([true, false]);
  expect(() => jobOf(workflow, 'b')).toThrow('needs');
  expect(() => jobOf(workflow, 'none')).toThrow('There is no job none.');
});
