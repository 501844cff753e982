import { expect, test } from 'vitest';
import { defaults } from '../../src/action/inputs/input-reader.js';
import { Secrets } from '../../src/action/secrets.js';
import type { Toolkit } from '../../src/action/toolkit.js';
import type { Exchange } from '../../src/http/exchange.js';
import { runStep } from '../../src/step.js';
import { Cancellation } from '../../src/time/deadline.js';
import { VirtualClock } from '../virtual/clock.js';

const json = (body: unknown, headers = {}) => ({ status: 200, headers, body: JSON.stringify(body) });
const ofRunner = { GITHUB_RUN_ID: '1', GITHUB_RUN_ATTEMPT: '1', GITHUB_REPOSITORY: 'o/r' };
const environment = { ...ofRunner, GITHUB_OUTPUT: 'x', GITHUB_STATE: 'x' };

async function run(exchange: Exchange, inputs: Record<string, string>, crash?: 'at once' | 'in its summary') {
  const access = { 'api-key': 'long-enough', 'base-url': 'https://a.test/v2' };
  const given: Record<string, string> = { ...defaults, ...access, ...inputs };
  const outputs: Record<string, string> = {};
  /** Masks and states, in order. */
  const saved: string[] = [];
  let isReported = crash === 'at once';
  const ignore = () => undefined;
  const toolkit: Toolkit = {
    input: (name) => given[name] ?? '',
    output: (name, value) => void Object.assign(outputs, { [name]: value }),
    summary: async () => {
      isReported ||= crash === 'in its summary';
    },
    mask: (secret) => void saved.push(secret),
    state: (_, value) => void saved.push(value),
    ...{ info: ignore, notice: ignore, warning: ignore, error: ignore, debug: ignore, variable: ignore },
  };
  const world = { toolkit, secrets: new Secrets(ignore), environment, exchange, random: () => 0.5 };
  const [clock, cancellation] = [new VirtualClock(), new Cancellation()];
  const noRuns = () => Promise.reject(new Error('No sweep runs here.'));
  const step = runStep({ ...world, clock, cancellation, isReported: () => isReported }, noRuns);
  return { succeeded: await clock.run(step), outputs, saved };
}

test('a step sets its outputs even if a response sets cookies, but not after a reported crash', async () => {
  const list = (crash?: Parameters<typeof run>[2]) =>
    run(async () => json({ projects: [] }, { 'set-cookie': ['one=1', 'two=2'] }), { mode: 'list-projects' }, crash);
  expect(await list()).toMatchObject({ succeeded: true, outputs: { status: 'ok', count: '0' } });
  const early = await list('at once');
  expect([early.succeeded, early.outputs]).toEqual([false, {}]);
  const late = await list('in its summary');
  expect(late).toMatchObject({ succeeded: false, outputs: { count: '0' } });
  expect(late.outputs).not.toHaveProperty('status');
});

test('a wait cancels its open requests when it ends', async () => {
  let cancelled = 0;
  const exchange: Exchange = async ({ url }, onCancel) => {
    onCancel(() => cancelled++);
    const id = url.pathname.split('/').at(-1) ?? '';
    return id.startsWith('0') ? new Promise(() => undefined) : json({ operation: { id, status: 'failed' } });
  };
  const ids = '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11,1f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11';
  const inputs = { mode: 'wait-operation', 'project-id': 'shop', 'operation-id': ids };
  expect(await run(exchange, inputs)).toMatchObject({ succeeded: false, outputs: { status: 'failed' } });
  expect(cancelled).toBe(1);
});

test('create-key masks the seal of each state before it saves the state', async () => {
  const { saved } = await run(async () => json({ id: 7, key: 'a-minted-key' }), { mode: 'create-key' });
  const states = saved.filter((text) => text.includes('{'));
  expect(states).toHaveLength(2);
  for (const state of states) expect(saved.indexOf(state.slice(0, 64))).toBe(saved.indexOf(state) - 1);
});
