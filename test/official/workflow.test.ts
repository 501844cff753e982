import { expect, test } from 'vitest';
import { startJob } from './job.js';
import { jobOf } from './workflow.js';

const workflow = `
jobs:
  job:
    env: { TEXT: 'it is \${{ vars.COLOUR }}' }
    outputs: { text: '\${{ steps.hands-on.outputs.text }}' }
    steps:
      - { id: hands-on, run: 'echo "text=$TEXT and {0}" >> "$GITHUB_OUTPUT"' }
      - { id: pipe, run: 'false | true' }
      - { id: fails, run: exit 3 }
      - { id: not-run, run: 'true' }
      - { id: sees, if: "!cancelled() && steps.fails.outcome == 'failure'", run: 'echo "$OUTCOME"', env: { OUTCOME: '\${{ steps.fails.conclusion }}' } }
      - { id: clean-up, if: failure(), run: 'true' }
`;

test.concurrent('the worker treats the keywords of a workflow as GitHub does', async (context) => {
  const { done } = await startJob(context, { ...jobOf(workflow, 'job'), vars: { COLOUR: 'blue' } });
  const job = await done;

  expect(job.outputs).toEqual({ text: 'it is blue and {0}' });
  expect(job.steps['sees']?.log).toMatch(/^failure$/m);
  const conclusions = Object.entries(job.steps).map(([id, { conclusion }]) => [id, conclusion]);
  expect(Object.fromEntries(conclusions)).toMatchObject({
    pipe: 'succeeded',
    fails: 'failed',
    'not-run': 'skipped',
    sees: 'succeeded',
    'clean-up': 'succeeded',
  });
  expect(job.conclusion).toBe('failed');
});
