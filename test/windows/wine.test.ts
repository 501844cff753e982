import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, type TestContext, test } from 'vitest';
import { plays, seenOf } from '../kit/plays.js';
import { setStage } from '../kit/stage.js';
import { Job } from '../runner/job.js';
import { prepareWine, startInWine, windowsPath } from './wine.js';

beforeAll(prepareWine, 120_000);

function setWindows(context: TestContext) {
  return setStage(context, { overSockets: true, startProcess: startInWine });
}

test.concurrent.for(Object.entries(plays))(
  'on Windows, %s has the same log, outputs and requests as on Linux',
  async ([, play], context) => {
    const onWindows = await seenOf(await setWindows(context), play);
    expect(onWindows).toEqual(await seenOf(await setStage(context, { overSockets: true }), play));
  },
);

const long = Array(6).fill('d'.repeat(60)).join('\\');
const name = 'response.json';
test.concurrent.for<[what: string, file: string]>([
  ['with backslashes in its path', `out\\deep\\${name}`],
  ['with spaces in its path', `out put\\my ${name}`],
  [`with a path of more than ${long.length} characters`, `${long}\\${name}`],
])('on Windows, a response-file %s is read from a relative and an absolute path', async ([, file], context) => {
  const stage = await setWindows(context);
  const { id } = stage.operation({ lengthMs: 0 });
  const job = new Job();
  const path = join(job.workspace, file.replaceAll('\\', '/'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `{\r\n  "operations": [{ "id": "${id}" }]\r\n}\r\n`);
  for (const written of [file, windowsPath(path)]) {
    const { outputs } = await stage.run({ 'response-file': written }, { job });
    const resultFile = expect.stringMatching(/^Z:\\.*\\ctl-wait-operation-/);
    expect(outputs).toMatchObject({ status: 'finished', 'operation-id': id, 'result-file': resultFile });
  }
});

test.concurrent('on Windows, Ctrl+C ends a step as cancelled', async (context) => {
  const { service, operation, start } = await setWindows(context);
  const step = start({ 'operation-id': operation({ lengthMs: Number.POSITIVE_INFINITY }).id, 'poll-interval': '1h' });
  await step.reach(service.ended());

  const { conclusion, exitCode, outputs, summary } = await step.cancel();

  expect([conclusion, exitCode, outputs['status']]).toEqual(['cancelled', 1, 'cancelled']);
  expect(summary).toMatch(/^### 🚫/);
});
