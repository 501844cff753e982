import { expect, it } from 'vitest';
import { ControlApi } from '../../../../src/api/control-api.js';
import { silent } from '../../../../src/api/log.js';
import { TransportError } from '../../../../src/http/exchange.js';
import { cleanUp } from '../../../../src/modes/post/clean-up.js';
import { Cancellation, Deadline } from '../../../../src/time/deadline.js';
import { VirtualClock } from '../../../virtual/clock.js';

it('post ends at once if no further request can succeed', async () => {
  const exchange = async () => {
    throw new TransportError('HTTPS_PROXY is not a valid URL', { transient: false, mayHaveTakenEffect: false });
  };
  const clock = new VirtualClock();
  const access = { baseUrl: new URL('https://control.test/v2'), apiKey: 'minted-key', requestTimeout: 5_000 };
  const credentials = { minted: { id: '7', api: new ControlApi(exchange, access, silent) }, parent: undefined };
  const deadline = new Deadline(clock, 20_000, new Cancellation());
  const state = { name: 'shop-key', mayHaveStrayKey: true, since: 0, revoke: true };
  const result = await clock.run(cleanUp(state, credentials, { deadline, log: silent, random: () => 0.5 }));
  expect(result.unconfirmed).toEqual(['7']);
  expect(clock.now()).toBe(0);
});
