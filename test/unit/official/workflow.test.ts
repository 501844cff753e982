import { expect, test } from 'vitest';
import { jobMessage } from '../../official/message.js';
import { jobOf, jobsAlone, needsService } from '../../official/workflow.js';

const job = (steps: string) => jobOf(`jobs: { job: { runs-on: ubuntu-latest, steps: [${steps}] } }`, 'job');

test('a job keeps its expressions, and its numbers and booleans become text', () => {
  const workflow = `
jobs:
  change:
    env: { A: '\${{ vars.A }}', B: 1, C: }
    outputs: { ids: '\${{ steps.list.outputs.ids }}' }
    steps:
      - uses: org/ctl-action@v1
        id: list
        with: { mode: list-projects, limit: 256, summary: false }`;

  expect(jobOf(workflow, 'change')).toMatchObject({
    env: { A: '${{ vars.A }}', B: '1', C: '' },
    outputs: { ids: '${{ steps.list.outputs.ids }}' },
    steps: [
      {
        id: 'list',
        uses: 'org/ctl-action@v1',
        with: { mode: 'list-projects', limit: '256', summary: 'false' },
      },
    ],
  });
});

test.for([
  ['', 'success()'],
  ["if: github.ref == 'a'", "success() && (github.ref == 'a')"],
  ["if: '${{ vars.A }}'", 'success() && (vars.A)'],
  ['if: failure() && vars.A', 'failure() && vars.A'],
  ["if: '${{ !cancelled() }}'", '!cancelled()'],
  ['if: false', 'success() && (false)'],
] as const)('a step with "%s" runs on the condition %s', ([line, condition]) => {
  expect(job(`{ run: a${line && `, ${line}`} }`).steps).toMatchObject([{ if: condition }]);
});

test('a script without a shell leaves the choice to the runner', () => {
  expect(job('{ run: a }, { run: b, shell: bash }').steps).toMatchObject([{ shell: '' }, { shell: 'bash' }]);
});

test.for([
  ['{ run: a, continue-on-error: true, timeout-minutes: 3 }', true, 3],
  [
    "{ run: a, continue-on-error: '${{ vars.A }}', timeout-minutes: '${{ vars.B }}' }",
    { type: 3, expr: 'vars.A' },
    { type: 3, expr: 'vars.B' },
  ],
] as const)('%s says in the message what it says', ([step, continueOnError, timeoutInMinutes]) => {
  expect(jobMessage(job(step), 'http://localhost/')).toMatchObject({ steps: [{ continueOnError, timeoutInMinutes }] });
});

test('steps in the background, a wait, a wait for all, a cancel and a parallel group become what the worker knows', () => {
  const steps = [
    '{ id: gate, run: a, background: true }',
    '{ wait: gate }',
    '{ wait: [gate, build] }',
    '{ wait-all: }',
    '{ cancel: gate }',
    '{ parallel: [{ id: x, run: a }, { run: b }] }',
  ];

  expect(job(steps.join()).steps).toMatchObject([
    { id: 'gate', background: true },
    { wait: ['gate'] },
    { wait: ['gate', 'build'] },
    { 'wait-all': true },
    { cancel: ['gate'] },
    { id: 'x', background: true },
    { id: '__1', background: true },
    { wait: ['x', '__1'] },
  ]);
});

test.for([
  ['{ run: a, working-directory: b }', 'working-directory'],
  ['{ wait: gate, if: always() }', 'if'],
  ['{ uses: actions/cache@v4 }', 'actions/cache@v4'],
] as const)('%s is refused, and not run without what it says', ([step, named]) => {
  expect(() => job(step)).toThrow(named);
});

test('a job that needs others, or is a matrix or another workflow, does not run alone', () => {
  const workflow = `
jobs:
  alone: { steps: [] }
  second: { needs: alone, steps: [] }
  matrix: { strategy: { matrix: { a: [1] } }, steps: [] }
  reused: { uses: ./.github/workflows/other.yml }`;

  expect(jobsAlone(workflow)).toEqual(['alone']);
  expect(needsService(workflow)).toBe(true);
  expect(needsService('jobs: { alone: { steps: [] } }')).toBe(false);
  expect(() => jobOf(workflow, 'second')).toThrow('needs');
  expect(() => jobOf(workflow, 'none')).toThrow('There is no job none.');
});
