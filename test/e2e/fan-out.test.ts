import { expect, test } from 'vitest';
import { setStage, workflow } from './stage.js';

test.concurrent('batches of several projects reach the jobs of a matrix', async (context) => {
  const { service, run, script, story } = await setStage(context, { projects: 512 });

  const { succeeded, log } = await run(workflow('fan-out.yml'), { files: { 'migrate.sh': script('migrate') } });

  expect(succeeded).toBe(true);
  expect(log.resultsOf('migrate')).toEqual(['success', 'success']);
  const migrated = story().filter((line) => line.startsWith('migrate'));
  const wanted = [...service.projectIds.slice(0, 2), ...service.projectIds.slice(-2)];
  expect(migrated.sort()).toEqual(wanted.map((id) => `migrate 512-${id}, key none`).sort());
});
