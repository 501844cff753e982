import { type ExpectStatic, test } from 'vitest';
import type { Awaited, Fault, FaultRule } from '../control-plane/index.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';
import { type KeyStage, type Life, live, type Plot, setKeyStage } from './key-stage.js';
import { reach } from './reach.js';
import { sabotage } from './sabotage.js';
import { errorOf } from './stage.js';

interface Moment {
  readonly faults: readonly FaultRule[];
  /** The exchange that is under way, or over. */
  readonly arrived?: Awaited;
  readonly ended?: Awaited;
}

const hang = (done: Extract<Fault, { kind: 'hang-before-headers' }>['done'] = 'now'): Fault => ({
  kind: 'hang-before-headers',
  done,
});
const create = (fault: Fault, nth = 1): FaultRule => ({ endpoint: 'create-key', nth, fault });
const lostCreate = create({ kind: 'cut-before-headers' });
const busy: Fault = { kind: 'status', status: 429, retryAfter: { seconds: 60 } };

/** Where main can be, as the network shows it. */
const carriedOutLate = 'its POST hangs, which is carried out 3 s after';
const moments = {
  'its POST hangs, which is carried out': { faults: [create(hang())], arrived: { endpoint: 'create-key' } },
  [carriedOutLate]: {
    faults: [create(hang({ msAfterGivenUp: 3_000 }))],
    arrived: { endpoint: 'create-key' },
  },
  'it looks for the key of a lost POST': {
    faults: [lostCreate, { endpoint: 'list-keys', nth: 1, fault: hang() }],
    arrived: { endpoint: 'list-keys' },
  },
  'it is asked for patience': { faults: [create(busy)], ended: { endpoint: 'create-key' } },
} satisfies Record<string, Moment>;

/** What a machine that has much to do may add to the promised 2 s: many processes start here at once. */
const slack = 1_500;

test.concurrent('killed while its POST hangs, which is carried out when post looks already: post leaves nothing', async (context) => {
  const { expect } = context;
  const life = await live(
    context,
    plotOf(moments[carriedOutLate], async (main) => main.kill()),
  );

  expect(life.main.signal).toBe('SIGKILL');
  expectNothingLeft(expect, life);
  const [key] = life.stage.made();
  const looks = life.stage.service.requests.filter(({ endpoint }) => endpoint === 'list-keys');
  expect(key?.createdAt).toBeGreaterThan(looks[0]?.at ?? Number.NaN);
  expect(life.post.summary).toContain(key?.id);
});

for (const name of ['its POST hangs, which is carried out', 'it is asked for patience'] as const) {
  test.concurrent(`cancelled while ${name}: it ends at once, and post leaves nothing`, async (context) => {
    const { expect } = context;
    const life = await live(
      context,
      plotOf(moments[name], (main) => main.cancel()),
    );

    const { main } = life;
    expect(main.outputs).toMatchObject({ status: 'cancelled', key: '', 'key-id': '' });
    expect(main.conclusion).toBe('cancelled');
    expect(main.summary).toMatch(/cancelled/i);
    expect(main.signals.map(({ signal }) => signal)).toEqual(['SIGINT']);
    expectPromptEnd(expect, main, main.signals[0]?.ms);
    expect(main.exitCode).toBe(1);
    expectNothingLeft(expect, life);
  });
}

for (const name of [carriedOutLate, 'it looks for the key of a lost POST'] as const) {
  test.concurrent(`the deadline strikes while ${name}: it ends in time, and post leaves nothing`, async (context) => {
    const { expect } = context;
    const { faults } = moments[name];
    const life = await live(context, { inMain: faults, inputs: { timeout: '3s' } });

    const { main } = life;
    expect(main.outputs).toMatchObject({ status: 'error', key: '', 'key-id': '' });
    expect(Number(main.outputs['duration-ms'])).toBeLessThan(3_000 + 2_000 + slack);
    expect(errorOf(main)).toContain(main.outputs['key-name']);
    expect(main.exitCode).toBe(1);
    expectNothingLeft(expect, life);
  });
}

const kept = { 'revoke-in-post': false };

test.concurrent('a key that is to be kept is revoked where main is killed before it was handed on', async (context) => {
  const { expect } = context;
  const life = await live(context, { inputs: kept, options: signalAt('SIGKILL', 'before state 4') });

  expect(life.aliveBetween).toHaveLength(1);
  expectNothingLeft(expect, life);
});

test.concurrent('a key that is to be kept is kept where main is killed after it was handed on', async (context) => {
  const { expect } = context;
  const life = await live(context, { inputs: kept, options: signalAt('SIGKILL', 'after state 4') });

  expect(life.main.outputs['key-id']).toBe(life.alive[0]);
  expect(life.alive).toHaveLength(1);
  expect(life.stage.service.requests).toHaveLength(1);
  expect(life.shown).toEqual([]);
});

const signals = ['SIGINT', 'SIGTERM'] as const;

for (const [name, rule, ready] of [
  [
    'its DELETE is under way',
    { endpoint: 'revoke-key', nth: 1, fault: { kind: 'delay', ms: 1_000 } },
    ({ service }) => service.arrived({ endpoint: 'revoke-key' }),
  ],
  [
    'it pauses after a failure',
    { endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status: 503, retryAfter: { seconds: 2 } } },
    ({ service }) => service.ended({ endpoint: 'revoke-key' }),
  ],
] as [string, FaultRule, (stage: KeyStage) => Promise<unknown>][]) {
  for (const signal of signals) {
    test.concurrent(`${signal} to post while ${name} does not keep it from revoking`, async (context) => {
      const { expect } = context;
      const stage = await setKeyStage(context);
      const main = await stage.runCreate();
      stage.service.faults.add(rule);
      const step = stage.startPost(main);
      await reach(step, ready(stage));
      step.kill(signal);
      step.kill(signal);
      const post = await step.done;

      expect(post.exitCode).toBe(0);
      expect(post.summary).toContain(`Key ${main.outputs['key-id']} was revoked`);
      expectNothingLeft(expect, stage.aftermath(main, post));
    });
  }
}

test.concurrent("the runner's own cancel leaves post the time for a second try", async (context) => {
  const { expect } = context;
  const stage = await setKeyStage(context);
  const main = await stage.runCreate();
  stage.service.faults.add({ endpoint: 'revoke-key', nth: 1, fault: hang('never') });
  const step = stage.startPost(main);
  await reach(step, stage.service.arrived({ endpoint: 'revoke-key' }));
  const post = await step.cancel();

  expect(post.exitCode).toBe(0);
  expect(post.signals.map(({ signal }) => signal)).toEqual(['SIGINT']);
  expectNothingLeft(expect, stage.aftermath(main, post));
});

for (const signal of signals) {
  test.concurrent(`${signal} to post while it looks for what main was killed at does not end its looking`, async (context) => {
    const { expect } = context;
    const stage = await setKeyStage(context);
    stage.service.faults.add(create(hang({ msAfterGivenUp: 3_000 })));
    const step = stage.startCreate();
    await reach(step, stage.service.arrived({ endpoint: 'create-key' }));
    step.kill();
    const main = await step.done;
    const looking = stage.startPost(main);
    await reach(looking, stage.service.ended({ endpoint: 'list-keys' }));
    looking.kill(signal);
    const post = await looking.done;

    expect(post.exitCode).toBe(0);
    expect(stage.made()).toHaveLength(1);
    expectNothingLeft(expect, stage.aftermath(main, post));
  });
}

function plotOf({ faults, arrived, ended }: Moment, act: (main: StepHandle) => Promise<unknown>): Plot {
  return {
    inMain: faults,
    meanwhile: async (main, { service }) => {
      await reach(main, ended === undefined ? service.arrived(arrived) : service.ended(ended));
      await act(main);
    },
  };
}

function signalAt(signal: NodeJS.Signals, step: string): Omit<StepOptions, 'inputs'> {
  return { nodeArgs: sabotage('signal-at'), env: { SIGNAL_AT: `${signal} ${step}` } };
}

function expectNothingLeft(
  expect: ExpectStatic,
  { alive, untold, shown, harmed }: Pick<Life, 'alive' | 'untold' | 'shown' | 'harmed'>,
): void {
  expect({ alive, untold, shown, harmed }).toEqual({ alive: [], untold: [], shown: [], harmed: [] });
}

function expectPromptEnd(expect: ExpectStatic, main: StepResult, signalled = Number.NaN): void {
  expect(main.overran).toBe(false);
  expect(main.signal).toBe(null);
  expect(main.annotations.filter(({ kind, source }) => kind === 'error' && source === 'action')).toEqual([]);
  expect(main.ms - signalled).toBeLessThan(2_000 + slack);
}
