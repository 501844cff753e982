import { expect, test } from 'vitest';
import { act, setStage } from './stage.js';

test.concurrent('a gate fails if a mistyped step name leaves operation-id empty', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 0 });

  const job = await run({
    steps: [
      { id: 'change', run: `echo 'operation-ids=["${id}"]' >> "$GITHUB_OUTPUT"` },
      act('gate', 'wait-operation', {
        'project-id': projectId,
        'operation-id': '${{ steps.chnage.outputs.operation-ids }}',
      }),
      { id: 'deploy', run: 'true' },
    ],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['gate']?.errors).toEqual([expect.stringMatching(/operation-id.*empty/)]);
  expect(job.steps['deploy']?.conclusion).toBe('skipped');
  expect(service.requests).toEqual([]);
});

test.concurrent('if a gate with continue-on-error fails, the job succeeds, and can output the status of the gate', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 0, outcome: 'failed' });

  const job = await run({
    outputs: {
      outcome: '${{ steps.gate.outcome }}',
      conclusion: '${{ steps.gate.conclusion }}',
      status: '${{ steps.gate.outputs.status }}',
      id: '${{ steps.gate.outputs.operation-id }}',
    },
    steps: [
      act('gate', 'wait-operation', { 'project-id': projectId, 'operation-id': id }, { 'continue-on-error': true }),
      { id: 'next', run: 'true' },
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.outputs).toEqual({ outcome: 'failure', conclusion: 'success', status: 'failed', id });
  expect(job.steps['gate']?.errors).toHaveLength(1);
  expect(job.steps['next']?.conclusion).toBe('succeeded');
});
