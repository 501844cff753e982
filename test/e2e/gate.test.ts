import { expect, test } from 'vitest';
import { setStage, workflow } from './stage.js';

test.concurrent('a gate in a job of its own opens when all have finished, and hands on what it saw', async (context) => {
  const { service, run, script, answering, ranAt, story } = await setStage(context);
  const began = Date.now();
  const operations = [
    service.plane.startOperation({ action: 'create_branch', lengthMs: 500 }),
    service.plane.startOperation({ action: 'start_compute', lengthMs: 1500 }),
  ];

  const { succeeded, log } = await run(workflow('gate.yml'), {
    files: { 'change-something.sh': answering(operations), 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(true);
  expect(log.resultsOf('deploy')).toEqual(['success']);
  expect(story()).toEqual(['get-operation, key 1', 'deploy finished-2-create_branch-start_compute, key none']);
  expect(ranAt('deploy') - began).toBeGreaterThanOrEqual(1500);
});

test.concurrent('it stays shut when one fails: the job behind it is not run', async (context) => {
  const { service, run, script, answering, story } = await setStage(context);
  const operations = ['finished', 'failed'].map((outcome) => service.plane.startOperation({ lengthMs: 300, outcome }));

  const { succeeded, log } = await run(workflow('gate.yml'), {
    files: { 'change-something.sh': answering(operations), 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(false);
  expect(log.resultsOf('gate')).toEqual(['failure']);
  expect(log.stepsOf('deploy')).toEqual([]);
  expect(story()).toEqual(['get-operation, key 1']);
  expect(log.annotationsOf('gate', 'error')).toEqual([expect.stringContaining(operations[1]?.id ?? '')]);
});

test.concurrent('it stays shut when the ids come from a step that is mistyped', async (context) => {
  const { service, run, script, answering, story } = await setStage(context);

  const { succeeded, log } = await run(workflow('mistyped-step.yml'), {
    files: {
      'change-something.sh': answering([service.plane.startOperation({ lengthMs: 0 })]),
      'deploy.sh': script('deploy'),
    },
  });

  expect(succeeded).toBe(false);
  expect(story()).toEqual([]);
  expect(log.annotationsOf('deploy', 'error')).toEqual([expect.stringMatching(/operation-id.*empty/)]);
});

test.concurrent('a step that may fail tells the next one how it ended', async (context) => {
  const { service, run, script, story } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 0, outcome: 'failed' });

  const { succeeded, log } = await run(workflow('continue-on-error.yml'), {
    vars: { OPERATION_ID: id },
    files: { 'mend.sh': script('mend') },
  });

  expect(succeeded).toBe(true);
  expect(story()).toEqual(['get-operation, key 1', `mend failure-success-failed-${id}, key none`]);
  expect(log.annotationsOf('look', 'error')).toHaveLength(1);
});
