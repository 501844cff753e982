import { expect, test } from 'vitest';
import { createRequest, sendRequest } from '../../../src/api/request.js';
import type { Exchange } from '../../../src/http/exchange.js';
import { Rate } from '../../../src/http/rate.js';
import { Cancellation, Deadline } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';
import { silent } from '../../virtual/silent.js';

test.for([
  [true, /No connection within 30s/],
  [false, /No complete response within 30s/],
] as const)('a silence while connecting (%s) tells whether the request may have taken effect', async ([is, says]) => {
  const clock = new VirtualClock();
  const exchange: Exchange = async ({ onConnecting }) => {
    onConnecting?.(true);
    onConnecting?.(is);
    return new Promise(() => undefined);
  };
  const rate = new Rate(clock, () => 0);
  const connection = {
    apiKey: 'a-key-of-a-test',
    baseUrl: new URL('https://control.test/v2'),
    exchange,
    log: silent,
    rate,
  };
  const request = createRequest({ method: 'POST', path: 'projects', maxBytes: 1_000 }, connection);
  const deadline = new Deadline(clock, 60_000, new Cancellation());
  const sending = clock.run(sendRequest(request, { deadline, patience: 30_000 }, connection));
  await expect(sending).rejects.toMatchObject({ message: expect.stringMatching(says), mayHaveTakenEffect: !is });
});
