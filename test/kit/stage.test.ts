import { expect, type TestContext, test } from 'vitest';
import { type Stage, type StageOptions, setStage } from './stage.js';

type Play = (stage: Stage) => ReturnType<Stage['run']>;

/** Each plays one step, or a step and its post step. */
const plays: Readonly<Record<string, Play>> = {
  'a wait that succeeds': ({ service, run }) =>
    run({ 'operation-id': service.plane.startOperation({ lengthMs: 0 }).id }),
  'a wait for an operation that failed': ({ service, run }) =>
    run({ 'operation-id': service.plane.startOperation({ lengthMs: 0, outcome: 'failed' }).id }),
  'a wait with bad inputs': ({ run }) => run({ 'operation-id': '', 'poll-interval': 'often' }),
  'a list of operations': ({ runMode, projectId }) => runMode('list-operations', { 'project-id': projectId }),
  'a list of projects': ({ runMode }) => runMode('list-projects'),
  'a list of keys': ({ runMode }) => runMode('list-keys'),
  'a list with a rejected key': ({ runMode }) => runMode('list-keys', { 'api-key': 'a-key-of-nobody' }),
  'a revocation of an unknown key': ({ runMode }) => runMode('revoke-key', { 'key-id': '77' }),
  'a new key with its post step': async ({ runMode, runPost }) => runPost(await runMode('create-key')),
};

test.concurrent.for(Object.entries(plays))(
  'in virtual time, %s has the same log, outputs and requests as over sockets',
  async ([, play], context) => {
    const virtual = await seen(context, play, {});
    expect(virtual).toEqual(await seen(context, play, { overSockets: true }));
  },
);

async function seen(context: TestContext, play: Play, options: StageOptions): Promise<unknown> {
  const stage = await setStage(context, options);
  const { conclusion, exitCode, log, outputs, summary, masks } = await play(stage);
  const requests = stage.service.requests.map(({ method, path, status, keyId }) => [method, path, status, keyId]);
  return JSON.parse(
    JSON.stringify({ conclusion, exitCode, log, outputs, summary, masks, requests })
      .replaceAll(stage.service.baseUrl, 'BASE_URL')
      .replaceAll(/\\"(created|updated)_at\\":\\"[^"]+"/g, 'TIME')
      .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d(:|%3A)\d\d\1\d\d[^\s"<\\]*/g, 'TIME')
      .replaceAll(/[\w-]*-run\d+-1-\w+-\w+/g, 'KEY_NAME')
      .replaceAll(/[^"\s]*[\\/]temp[\\/]+ctl-[\w-]+\.json/g, 'RESULT_FILE')
      .replaceAll(/ *\b\d+(\.\d+)?( ?m?s)\b/g, ' DURATION')
      .replaceAll(/(?<="duration-ms":")\d+/g, 'NUMBER')
      .replaceAll(/127\.0\.0\.1|192\.0\.2\.1/g, 'ADDRESS'),
  );
}

test('a step in virtual time dates its lines, its signals and its end by that time', async (context) => {
  const stage = await setStage(context);
  const step = stage.start({ 'operation-id': stage.operation({ lengthMs: Number.POSITIVE_INFINITY }).id });
  stage.after(12_345, () => step.kill('SIGTERM'));
  const { lines, signals, ms } = await step.done;
  expect(lines[0]?.ms).toBe(0);
  expect([lines.at(-1)?.ms, signals, ms]).toEqual([12_345, [{ signal: 'SIGTERM', ms: 12_345 }], 12_345]);
});
