import { expect, it } from 'vitest';
import { ControlApi } from '../../../src/api/control-api.js';
import { silent } from '../../../src/api/log.js';
import { cleanUp } from '../../../src/modes/clean-up.js';
import { Limit } from '../../../src/time/limit.js';
import { Stop } from '../../../src/time/stop.js';
import { World } from '../../virtual/world.js';

const second = 1_000;

it('revokes the key that looks for others as soon as its time has come, though a look hangs', async () => {
  const world = new World();
  const minted = world.plane.addKey('shop-key');
  world.clock.at(12 * second, () =>
    world.faults.add({ endpoint: 'list-keys', fault: { kind: 'hang-before-headers' } }),
  );
  const access = { baseUrl: new URL('https://control.test/v2'), apiKey: minted.key, requestTimeout: 5 * second };
  const trace = {
    baseUrl: access.baseUrl.href,
    name: minted.name,
    unclear: true,
    minted: { id: minted.id, secret: minted.key },
    since: world.clock.date(),
    parent: '',
    revoke: true,
    onFailure: 'warn',
    summary: true,
  } as const;

  const cleanedUp = await world.clock.run(
    cleanUp(
      trace,
      { minted: new ControlApi(world.connect(), access, silent), parent: undefined },
      { limit: new Limit(world.clock, 20 * second, new Stop()), log: silent, random: () => 0.5 },
    ),
  );

  expect(cleanedUp.failure).toBeUndefined();
  expect(cleanedUp.revoked.map(({ id }) => id)).toEqual([minted.id]);
  expect(world.times.at(-1)).toBe(16 * second);
  expect(world.exchanges.log.exchanges.at(-1)?.method).toBe('DELETE');
});
