import { afterAll, expect, test } from 'vitest';
import { defaults } from '../../src/action/inputs/input-reader.js';
import { Secrets } from '../../src/action/secrets.js';
import type { Toolkit } from '../../src/action/toolkit.js';
import type { Exchange } from '../../src/http/exchange.js';
import { runStep } from '../../src/step.js';
import { Cancellation } from '../../src/time/deadline.js';
import { operationId } from '../kit/inputs.js';
import { Job } from '../runner/job.js';
import { VirtualClock } from '../virtual/clock.js';

const job = new Job();
afterAll(() => job.dispose());
const ofRunner = { GITHUB_RUN_ID: '1', GITHUB_RUN_ATTEMPT: '1', GITHUB_REPOSITORY: 'o/r' };
const environment = { ...ofRunner, RUNNER_TEMP: job.temp, GITHUB_OUTPUT: 'x', GITHUB_STATE: 'x' };

/** Runs a step whose requests get this response. Returns what it did, in order. */
async function run(response: object, inputs: Record<string, string>) {
  const access = { 'api-key': 'long-enough', 'base-url': 'https://a.test/v2' };
  const given: Record<string, string> = { ...defaults, ...access, ...inputs };
  const done: string[] = [];
  const note = (what: string) => (text: string) => void done.push(`${what} ${text}`);
  const toolkit: Toolkit = {
    input: (name) => given[name] ?? '',
    output: note('output'),
    summary: async (markdown) => {
      // As in the runner's toolkit, the summary is there later than the call.
      await Promise.resolve();
      note('summary')(markdown);
    },
    state: (_, value) => note('state')(value),
    ...{ mask: note('mask'), error: note('error'), info: note('log'), notice: note('log') },
    ...{ warning: note('log'), debug: () => undefined },
  };
  const exchange: Exchange = async ({ method }) => {
    note('request')(method);
    return { status: 200, headers: {}, body: JSON.stringify(response) };
  };
  const world = { toolkit, secrets: new Secrets(toolkit.mask), environment, exchange, random: () => 0.5 };
  const [clock, cancellation] = [new VirtualClock(), new Cancellation()];
  const noRuns = () => Promise.reject(new Error('No sweep runs here.'));
  await clock.run(runStep({ ...world, clock, cancellation, isReported: () => false }, noRuns));
  return done;
}

test('a step first masks the API key and saves a state, and sets the output status last', async () => {
  const operation = { id: operationId, status: 'failed' };
  const inputs = { mode: 'wait-operation', 'project-id': 'p', 'operation-id': operationId };
  const done = await run({ operation }, inputs);
  expect(done.slice(0, 2)).toEqual(['mask long-enough', 'state nothing-to-revoke']);
  const report = ['error', 'summary'].map((what) => expect.stringMatching(`^${what} `));
  expect(done.slice(-4)).toEqual(['output result-file', ...report, 'output status']);
});

test('create-key saves the key name before its request, and masks and saves the key before it sets outputs', async () => {
  for (const [revoke, word, ...last] of [
    ['true', 'run'],
    ['false', 'kept', 'state nothing-to-revoke'],
  ]) {
    const inputs = { mode: 'create-key', 'revoke-in-post': revoke ?? '' };
    const done = await run({ id: 7, key: 'a-minted-key' }, inputs);
    const state = (secret: string) =>
      expect.stringMatching(`^state [0-9a-f]{64}\\{.*"name":"r-${word}1-1-.*${secret}.*\\}$`);
    expect(done).toEqual([
      ...['mask long-enough', 'state nothing-to-revoke', state(''), 'request POST'],
      ...['mask a-minted-key', state('a-minted-key')],
      ...['key', 'message', 'key-id', 'key-name'].map((name) => `output ${name}`),
      ...[expect.stringMatching(/^log /), expect.stringMatching(/^summary /)],
      ...['output status', ...last],
    ]);
  }
});
