import { expect, test } from 'vitest';
import { startJob } from './job.js';
import { jobOf } from './workflow.js';

// The outputs of a step in the background are there once it was waited for, and not before.
const workflow = `
jobs:
  job:
    env: { TEXT: 'it is \${{ vars.COLOUR }}' }
    outputs: { text: '\${{ steps.hands-on.outputs.text }}' }
    steps:
      - { id: hands-on, run: 'echo "text=$TEXT and {0}" >> "$GITHUB_OUTPUT"' }
      - { id: may-fail, continue-on-error: true, run: exit 3 }
      - { id: sees, if: steps.may-fail.outcome == 'failure', run: 'echo "$OUTCOME"', env: { OUTCOME: '\${{ steps.may-fail.conclusion }}' } }
      - { id: pipe, run: 'false | true' }
      - parallel:
          - { id: left, run: 'until test -e right; do sleep 0.1; done; touch left' }
          - { id: right, run: 'touch right; until test -e left; do sleep 0.1; done' }
      - { id: gate, background: true, run: 'until test -e built; do sleep 0.1; done; echo open=yes >> "$GITHUB_OUTPUT"' }
      - { id: build, run: touch built }
      - wait: gate
      - { id: deploy, run: 'test "$OPEN" = yes', env: { OPEN: '\${{ steps.gate.outputs.open }}' } }
      - { id: last, background: true, run: 'echo done=yes >> "$GITHUB_OUTPUT"' }
      - wait-all:
      - { id: all-done, run: 'test "$DONE" = yes', env: { DONE: '\${{ steps.last.outputs.done }}' } }
      - { id: bash, shell: bash, run: 'false | true' }
      - { id: not-run, run: 'true' }
      - { id: clean-up, if: failure(), run: 'true' }
`;

test.concurrent('the worker treats the keywords of a workflow as GitHub does', async (context) => {
  const { done } = await startJob(context, { ...jobOf(workflow, 'job'), vars: { COLOUR: 'blue' } });
  const job = await done;

  expect(job.outputs).toEqual({ text: 'it is blue and {0}' });
  expect(job.steps['sees']?.log).toMatch(/^success$/m);
  const conclusions = Object.entries(job.steps).map(([id, { conclusion }]) => [id, conclusion]);
  expect(Object.fromEntries(conclusions)).toMatchObject({
    'may-fail': 'succeeded',
    pipe: 'succeeded',
    left: 'succeeded',
    right: 'succeeded',
    gate: 'succeeded',
    deploy: 'succeeded',
    'all-done': 'succeeded',
    bash: 'failed',
    'not-run': 'skipped',
    'clean-up': 'succeeded',
  });
  expect(job.conclusion).toBe('failed');
});
