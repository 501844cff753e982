import { expect, test } from 'vitest';
import type { InputReader } from '../../../src/action/inputs/input-reader.js';
import { Rate } from '../../../src/http/rate.js';
import { define, type Services } from '../../../src/modes/mode.js';
import { waitOperation } from '../../../src/modes/wait-operation/wait-operation.js';
import { Cancellation, CancelledError, Deadline } from '../../../src/time/deadline.js';
import { apiBy, sendOnce, silent } from '../../virtual/api.js';
import { deadlineAt } from '../../virtual/clock.js';

const apiThatSays = (body: string, rate: Rate) => apiBy(async () => ({ status: 200, headers: {}, body }), rate);

test('a step that is cancelled while it builds its report ends as cancelled', async () => {
  let now = 0;
  const clock = { now: () => now, epochMs: () => now, schedule: () => () => undefined, turn: async () => {} };
  const cancellation = new Cancellation();
  const rate = new Rate(clock, () => 0.5);
  const api = apiThatSays('[]', rate);
  const mode = define({
    read: () => ({}),
    run: (_, { deadline }) => api.keys(sendOnce(deadline)),
    report: () => {
      now += 2_000;
      // The handler of the signal runs when the event loop is free again.
      queueMicrotask(() => cancellation.cancel());
      return { status: 'ok', succeeded: true, headline: '' };
    },
  });
  const deadline = new Deadline(clock, 10_000, cancellation);
  const collaborators = { api, deadline, rate, log: silent, random: () => 0.5 };
  const run = mode.read({} as InputReader)(collaborators, {} as Services, 10_000);
  await expect(run).rejects.toThrow(CancelledError);
});

test('a cancelled wait-operation still reports an operation that ended right before the cancel', async () => {
  const { clock, cancellation, deadline } = deadlineAt(10_000);
  const rate = new Rate(clock, () => 0.5);
  const api = apiThatSays('{"operation":{"id":"op-1","status":"finished"}}', rate);
  // The first two turns are those before and after the response is read.
  let turns = 0;
  clock.turn = async () => void (++turns === 3 && cancellation.cancel());
  const target = { projectIds: ['p-1'], target: { ids: new Map([['p-1', ['op-1']]]) } };
  const settings = { ...target, failOnEmpty: false, failFast: true, pollInterval: 'auto', pollsOnce: false } as const;
  const ended = await waitOperation(settings, { api, deadline, rate, log: silent, random: () => 0.5 });
  expect(ended).toMatchObject({ verdict: 'cancelled', operations: [{ status: 'finished' }] });
});
