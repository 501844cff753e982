import { expect, test } from 'vitest';
import { defaults } from '../../src/action/inputs/input-reader.js';
import { Secrets } from '../../src/action/secrets.js';
import type { Toolkit } from '../../src/action/toolkit.js';
import type { Exchange } from '../../src/http/exchange.js';
import { runStep } from '../../src/step.js';
import { Cancellation } from '../../src/time/deadline.js';
import { VirtualClock } from '../virtual/clock.js';

const noRuns = () => Promise.reject(new Error('No sweep runs here.'));
const json = (body: unknown, headers = {}) => ({ status: 200, headers, body: JSON.stringify(body) });

/** Runs a step whose requests go to this exchange. */
async function run(exchange: Exchange, inputs: Record<string, string>, { crash = 'none', environment = {} } = {}) {
  const access = { 'api-key': 'long-enough', 'base-url': 'https://a.test/v2' };
  const given: Record<string, string> = { ...defaults, ...access, ...inputs };
  const outputs = new Map<string, string>();
  /** Masks and states, in order. */
  const masksAndStates: string[] = [];
  let isReported = crash === 'before the outputs';
  const ignore = () => undefined;
  const toolkit: Toolkit = {
    input: (name) => given[name] ?? '',
    output: (name, value) => void outputs.set(name, value),
    summary: async () => {
      isReported ||= crash === 'during the summary';
    },
    mask: (secret) => void masksAndStates.push(secret),
    state: (_, value) => void masksAndStates.push(value),
    ...{ info: ignore, notice: ignore, warning: ignore, error: ignore, debug: ignore, variable: ignore },
  };
  const clock = new VirtualClock();
  const world = { toolkit, secrets: new Secrets(ignore), environment, exchange, clock, random: () => 0.5 };
  const step = runStep({ ...world, isReported: () => isReported, cancellation: new Cancellation() }, noRuns);
  return { succeeded: await clock.run(step), outputs: Object.fromEntries(outputs), masksAndStates };
}

test('a step sets its outputs even if a response sets cookies, but not after a reported crash', async () => {
  const exchange: Exchange = async () => json({ projects: [] }, { 'set-cookie': ['one=1', 'two=2'] });
  expect(await run(exchange, { mode: 'list-projects' })).toMatchObject({ succeeded: true, outputs: { count: '0' } });
  const inputs = { mode: 'list-projects' };
  const early = await run(exchange, inputs, { crash: 'before the outputs' });
  expect([early.succeeded, early.outputs]).toEqual([false, {}]);
  const late = await run(exchange, inputs, { crash: 'during the summary' });
  expect(late).toMatchObject({ succeeded: false, outputs: { count: '0' } });
  expect(late.outputs).not.toHaveProperty('status');
});

test('a wait cancels its open requests when it ends', async () => {
  let cancelled = 0;
  const exchange: Exchange = ({ url }, onCancel) => {
    onCancel(() => cancelled++);
    const id = url.pathname.split('/').at(-1) ?? '';
    if (id.startsWith('0')) return new Promise(() => undefined);
    return Promise.resolve(json({ operation: { id, status: 'failed' } }));
  };
  const ids = '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11,1f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11';
  const inputs = { mode: 'wait-operation', 'project-id': 'shop', 'operation-id': ids };
  expect(await run(exchange, inputs)).toMatchObject({ succeeded: false, outputs: { status: 'failed' } });
  expect(cancelled).toBe(1);
});

test('create-key masks the seal of each state before it saves the state', async () => {
  const ofRun = { GITHUB_RUN_ID: '1', GITHUB_RUN_ATTEMPT: '1', GITHUB_REPOSITORY: 'o/r' };
  const environment = { ...ofRun, GITHUB_OUTPUT: 'x', GITHUB_STATE: 'x' };
  const exchange: Exchange = async () => json({ id: 7, key: 'a-minted-key' });
  const { masksAndStates } = await run(exchange, { mode: 'create-key' }, { environment });
  const states = masksAndStates.filter((text) => text.includes('{'));
  expect(states).toHaveLength(2);
  for (const state of states)
    expect(masksAndStates.indexOf(state.slice(0, 64))).toBe(masksAndStates.indexOf(state) - 1);
});
