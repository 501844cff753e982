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
async function run(exchange: Exchange, inputs: Readonly<Record<string, string>>, isReported = false) {
  const access = { 'api-key': 'long-enough', 'base-url': 'https://a.test/v2' };
  const given: Readonly<Record<string, string>> = { ...defaults, ...access, ...inputs };
  const outputs = new Map<string, string>();
  const ignore = () => undefined;
  const toolkit: Toolkit = {
    input: (name) => given[name] ?? '',
    output: (name, value) => void outputs.set(name, value),
    summary: async () => undefined,
    ...{ mask: ignore, info: ignore, notice: ignore, warning: ignore, error: ignore },
    ...{ debug: ignore, state: ignore, variable: ignore },
  };
  const clock = new VirtualClock();
  const world = { toolkit, secrets: new Secrets(ignore), environment: {}, exchange, clock, random: () => 0.5 };
  const step = runStep({ ...world, isReported: () => isReported, cancellation: new Cancellation() }, noRuns);
  return { succeeded: await clock.run(step), outputs: Object.fromEntries(outputs) };
}

test('a step sets its outputs even if a response sets cookies, but not after a reported crash', async () => {
  const exchange: Exchange = async () => json({ projects: [] }, { 'set-cookie': ['one=1', 'two=2'] });
  expect(await run(exchange, { mode: 'list-projects' })).toMatchObject({ succeeded: true, outputs: { count: '0' } });
  expect(await run(exchange, { mode: 'list-projects' }, true)).toEqual({ succeeded: false, outputs: {} });
});

test('a wait cancels its open requests when it ends', async () => {
  let cancelled = 0;
  const exchange: Exchange = ({ url }, onCancel) => {
    onCancel(() => cancelled++);
    const id = url.pathname.split('/').at(-1) ?? '';
    if (id.startsWith('0')) return new Promise(() => undefined);
    return Promise.resolve(json({ operation: { id, status: 'failed' } }));
  };
  const ids = ['0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11', '1f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11'];
  const inputs = { mode: 'wait-operation', 'project-id': 'shop', 'operation-id': ids.join(',') };
  expect(await run(exchange, inputs)).toMatchObject({ succeeded: false, outputs: { status: 'failed' } });
  expect(cancelled).toBe(1);
});
