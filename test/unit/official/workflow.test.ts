import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { jobMessage } from '../../official/message.js';
import { findWorker } from '../../official/places.js';
import { tokenOf } from '../../official/token.js';
import { jobOf, jobsAlone, needsService } from '../../official/workflow.js';

const job = (steps: string) => jobOf(`jobs: { job: { runs-on: ubuntu-latest, steps: [${steps}] } }`, 'job');

test('a parsed job keeps expressions and has numbers and booleans as text', () => {
  const workflow = `
jobs:
  change:
    env: { A: '\${{ vars.A }}', B: 1, C: }
    outputs: { ids: '\${{ steps.list.outputs.ids }}' }
    steps:
      - { uses: org/ctl-action@v1, id: list, with: { mode: list-projects, limit: 256, summary: false } }`;

  expect(jobOf(workflow, 'change')).toMatchObject({
    env: { A: '${{ vars.A }}', B: '1', C: '' },
    outputs: { ids: '${{ steps.list.outputs.ids }}' },
    steps: [{ id: 'list', uses: 'org/ctl-action@v1', with: { mode: 'list-projects', limit: '256', summary: 'false' } }],
  });
});

test('the job message has timeout-minutes and continue-on-error of a step, as values or expressions', () => {
  const message = (step: string) => jobMessage(job(step), 'http://localhost/');
  expect(message('{ run: a, continue-on-error: true, timeout-minutes: 3 }')).toMatchObject({
    steps: [{ continueOnError: true, timeoutInMinutes: 3 }],
  });
  expect(message("{ run: a, continue-on-error: '${{ vars.A }}', timeout-minutes: '${{ vars.B }}' }")).toMatchObject({
    steps: [{ continueOnError: { type: 3, expr: 'vars.A' }, timeoutInMinutes: { type: 3, expr: 'vars.B' } }],
  });
});

test.for([
  ['{ run: a, working-directory: b }', 'working-directory'],
  ['{ wait: gate, if: always() }', 'if'],
  ['{ uses: actions/cache@v4 }', 'actions/cache@v4'],
] as const)('the step %s is rejected, because the worker would ignore %s', ([step, named]) => {
  expect(() => job(step)).toThrow(named);
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

test.for([
  ['plain {text}', 'plain {text}'],
  ['${{ secrets.KEY }}', { type: 3, expr: 'secrets.KEY' }],
  ["it's {v}${{ a }}${{ b.c }}", { type: 3, expr: "format('it''s {{v}}{0}{1}', a, b.c)" }],
  ['a\n${{ a }}', { type: 3, expr: "format('a\n{0}', a)" }],
] as const)('the text %j compiles to %j', ([text, token]) => {
  expect(tokenOf(text)).toEqual(token);
});

test('without a worker, the error says which variable to set or which path does not exist', () => {
  for (const env of [{}, { RUNNER_DIR: '', RUNNER_ARCHIVE: '' }])
    expect(() => findWorker(env)).toThrow(/^Set RUNNER_DIR to an unpacked release .+, or RUNNER_ARCHIVE/);
  const missing = resolve('nowhere/bin/Runner.Worker');
  expect(() => findWorker({ RUNNER_DIR: 'nowhere' })).toThrow(`${missing} does not exist. Set`);
});
