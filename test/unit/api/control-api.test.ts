import { expect, test, vi } from 'vitest';
import type { Exchange } from '../../../src/http/exchange.js';
import { Rate } from '../../../src/http/rate.js';
import { Cancellation, Deadline, DeadlineExceeded } from '../../../src/time/deadline.js';
import { apiBy, sendOnce } from '../../virtual/api.js';
import { deadlineAt } from '../../virtual/clock.js';

test('a GET request is sent with Cache-Control: no-cache', async () => {
  const caching: unknown[] = [];
  const exchange: Exchange = async ({ headers }) => {
    caching.push(headers['cache-control']);
    return { status: 200, headers: {}, body: '[]' };
  };
  await apiBy(exchange).keys(sendOnce(deadlineAt(60_000).deadline));
  expect(caching).toEqual(['no-cache']);
});

test.for([
  ['without a connection for 30 s has not taken effect', true, /No connection within 30s/],
  ['without a response for 30 s may have taken effect', false, /No complete response within 30s/],
] as const)('a create-key request %s', async ([, is, says]) => {
  const exchange: Exchange = ({ progress }) => {
    if (progress !== undefined) progress.isConnecting = is;
    return new Promise(() => undefined);
  };
  const { clock, deadline } = deadlineAt(60_000);
  const creating = clock.run(apiBy(exchange).createKey('a-name', { deadline, patience: 30_000 }));
  await expect(creating).rejects.toMatchObject({ message: expect.stringMatching(says), mayHaveTakenEffect: !is });
});

test('a response is rejected if its processing ends after the deadline', async () => {
  let now = 0;
  // While the work holds the event loop, no timer fires.
  const clock = { now: () => now, epochMs: () => now, schedule: () => () => undefined, turn: async () => {} };
  const exchange: Exchange = async () => {
    now = 2_000;
    return { status: 200, headers: {}, body: '[]' };
  };
  const list = (expiresAt: number) => {
    const deadline = new Deadline(clock, expiresAt, new Cancellation());
    now = 0;
    return apiBy(exchange, new Rate(clock, () => 0)).keys(sendOnce(deadline));
  };
  expect(await list(2_001)).toEqual([]);
  await expect(list(2_000)).rejects.toThrow(DeadlineExceeded);
});

test('the Date header of a slow response counts as the time of its arrival', async () => {
  const { clock, deadline } = deadlineAt(60_000);
  const headers = { date: 'Mon, 01 Jan 2024 12:00:00 GMT' };
  const api = apiBy(
    () => clock.sleep(20_000).then(() => ({ status: 200, headers, body: '[]' })),
    new Rate(clock, () => 0),
  );
  await clock.run(api.keys(sendOnce(deadline)));
  expect(api.knownServiceEpochMs(clock)).toBe(Date.parse(headers.date));
});

test('a response whose turn comes after the deadline is not parsed', async (context) => {
  let now = 0;
  const turn = async () => {
    now = 2_000;
  };
  const clock = { now: () => now, epochMs: () => now, schedule: () => () => undefined, turn };
  const parse = vi.spyOn(JSON, 'parse');
  context.onTestFinished(() => parse.mockRestore());
  const api = apiBy(async () => ({ status: 200, headers: {}, body: '[]' }), new Rate(clock, () => 0));
  const listing = api.keys(sendOnce(new Deadline(clock, 1_000, new Cancellation())));
  await expect(listing).rejects.toThrow(DeadlineExceeded);
  expect(parse).not.toHaveBeenCalled();
});
