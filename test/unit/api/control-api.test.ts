import { expect, it } from 'vitest';
import { ControlApi } from '../../../src/api/control-api.js';
import { silent } from '../../../src/api/log.js';
import { noRetry } from '../../../src/http/retry.js';
import { Cancellation, Deadline } from '../../../src/time/deadline.js';
import { World } from '../../virtual/world.js';

it.each([
  ['names the input that sets its time', 'request-timeout', ' (request-timeout)'],
  ['names no input where none sets its time', undefined, ''],
])('an exchange that is too slow %s', async (_, requestTimeoutInput, named) => {
  const world = new World();
  world.faults.add({ fault: { kind: 'hang-before-headers' } });
  const baseUrl = new URL('https://control.test/v2');
  const access = { baseUrl, apiKey: world.plane.apiKey, requestTimeout: 5_000, requestTimeoutInput };
  const api = new ControlApi(world.connect(), access, silent);
  const limit = new Deadline(world.clock, 60_000, new Cancellation());

  const asking = world.clock.run(api.keys({ deadline: limit, retry: noRetry }));

  await expect(asking).rejects.toThrow(
    new RegExp(`GET /v2/api_keys: No complete response within 5s${named.replace(/[()]/g, '\\$&')}$`),
  );
});
