import { expect, it } from 'vitest';
import { ControlApi } from '../../../src/api/control-api.js';
import { silent } from '../../../src/api/log.js';
import { cleanUp } from '../../../src/modes/clean-up.js';
import { Limit } from '../../../src/time/limit.js';
import { Stop } from '../../../src/time/stop.js';
import { World } from '../../virtual/world.js';

const second = 1_000;

/** Post of a job whose key was made after a create that was unclear. */
function cleaned(world: World) {
  const minted = world.plane.addKey('shop-key');
  const access = { baseUrl: new URL('https://control.test/v2'), apiKey: minted.key, requestTimeout: 5 * second };
  const trace = { name: minted.name, unclear: true, since: world.clock.date(), revoke: true };
  const api = new ControlApi(world.connect(), access, silent);
  const credentials = { minted: { id: minted.id, api }, parent: undefined };
  const limit = new Limit(world.clock, 20 * second, new Stop());
  const working = world.clock.run(cleanUp(trace, credentials, { limit, log: silent, random: () => 0.5 }));
  return { minted, working };
}

it('leaves a list alone for as long as it asks: that is no lock on the one key that was looked for', async () => {
  const world = new World();
  const other = world.plane.addKey('shop-key');
  world.faults.add({ endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status: 404 } });
  world.faults.add({
    endpoint: 'list-keys',
    nth: 2,
    fault: { kind: 'status', status: 423, retryAfter: { seconds: 9 } },
  });

  await cleaned(world).working;

  // The look, the revocation, the look whether it is gone; then nothing for 9 s.
  expect(world.times.slice(0, 3)).toEqual([0, 0, 0]);
  expect(world.times[3]).toBeGreaterThanOrEqual(9 * second);
  expect(world.plane.isAlive(other.id)).toBe(false);
});

it('sends nothing more in a round that a 429 has ended', async () => {
  const world = new World();
  const other = world.plane.addKey('shop-key');
  world.faults.add({ endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status: 503 } });
  world.faults.add({ endpoint: 'list-keys', nth: 2, fault: { kind: 'status', status: 429 } });

  await cleaned(world).working;

  const [, , refused = 0, next] = world.times;
  expect(next).toBeGreaterThan(refused);
  expect(world.plane.isAlive(other.id)).toBe(false);
});

it('revokes the key that looks for others as soon as its time has come, though a look hangs', async () => {
  const world = new World();
  world.clock.at(12 * second, () =>
    world.faults.add({ endpoint: 'list-keys', fault: { kind: 'hang-before-headers' } }),
  );

  const { minted, working } = cleaned(world);
  const cleanedUp = await working;

  expect(cleanedUp.failure).toBeUndefined();
  expect(cleanedUp.revoked.map(({ id }) => id)).toEqual([minted.id]);
  expect(world.times.at(-1)).toBe(16 * second);
  expect(world.exchanges.log.exchanges.at(-1)?.method).toBe('DELETE');
});
