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
  expect(log.resultsOf('deploy')).toEqual([]);
  expect(story()).toEqual(['get-operation, key 1']);
});
