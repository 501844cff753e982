import { describe, expect, it } from 'vitest';
import { ControlApi } from '../../../../src/api/control-api.js';
import { silent } from '../../../../src/api/log.js';
import { TransportError } from '../../../../src/http/exchange.js';
import { cleanUp } from '../../../../src/modes/post/clean-up.js';
import { Cancellation, Deadline } from '../../../../src/time/deadline.js';
import { VirtualClock } from '../../../virtual/clock.js';
import { World } from '../../../virtual/world.js';

const second = 1_000;

/** Post of a job whose key was made after a create that was unclear. */
function cleaned(world: World) {
  const minted = world.plane.addKey('shop-key');
  const access = { baseUrl: new URL('https://control.test/v2'), apiKey: minted.key, requestTimeout: 5 * second };
  const trace = { name: minted.name, mayHaveStrayKey: true, since: world.clock.epochMs(), revoke: true };
  const api = new ControlApi(world.connect(), access, silent);
  const credentials = { minted: { id: minted.id, api }, parent: undefined };
  const limit = new Deadline(world.clock, 20 * second, new Cancellation());
  const working = world.clock.run(cleanUp(trace, credentials, { deadline: limit, log: silent, random: () => 0.5 }));
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
  world.clock.schedule(12 * second, () =>
    world.faults.add({ endpoint: 'list-keys', fault: { kind: 'hang-before-headers' } }),
  );

  const { minted, working } = cleaned(world);
  const cleanedUp = await working;

  expect(cleanedUp.failure).toBeUndefined();
  expect(cleanedUp.revoked.map(({ id }) => id)).toEqual([minted.id]);
  expect(world.times.at(-1)).toBe(16 * second);
  expect(world.exchanges.log.exchanges.at(-1)?.method).toBe('DELETE');
});

describe('an id that the service gave to another key', () => {
  /** Post of a job whose minted key was revoked meanwhile, and its id used again. */
  async function cleanedWithParent(unclear: boolean) {
    const world = new World();
    const minted = world.plane.addKey('shop-key');
    const other = world.plane.reuseId(minted.id, 'of another tool');
    const connected = world.connect();
    const api = (apiKey: string) =>
      new ControlApi(
        connected,
        { baseUrl: new URL('https://control.test/v2'), apiKey, requestTimeout: 5 * second },
        silent,
      );
    const trace = { name: minted.name, mayHaveStrayKey: unclear, since: world.clock.epochMs(), revoke: true };
    const credentials = { minted: { id: minted.id, api: api(minted.key) }, parent: api(world.plane.apiKey) };
    const limit = new Deadline(world.clock, 20 * second, new Cancellation());
    const cleanedUp = await world.clock.run(
      cleanUp(trace, credentials, { deadline: limit, log: silent, random: () => 0.5 }),
    );
    const deletesOfParent = world.exchanges.log.exchanges.filter(
      ({ method, keyId }) => method === 'DELETE' && keyId === '1',
    );
    return { minted, other, cleanedUp, deletesOfParent };
  }

  it.each([false, true])(
    'is not touched, and the minted key is gone (an ambiguous create before it: %s)',
    async (unclear) => {
      const { minted, other, cleanedUp, deletesOfParent } = await cleanedWithParent(unclear);
      expect(cleanedUp.failure).toBeUndefined();
      expect(cleanedUp.revoked).toMatchObject([{ id: minted.id, outcome: 'already-gone' }]);
      expect(deletesOfParent).toEqual([]);
      expect(other.revokedAt).toBeUndefined();
    },
  );
});

it('a key found after an ambiguous create is not touched again once the list shows its id under another name', async () => {
  const world = new World();
  const stray = world.plane.addKey('shop-key');
  world.faults.add({ path: `/api_keys/${stray.id}`, nth: 1, fault: { kind: 'status', status: 503 } });
  world.clock.schedule(100, () => void world.plane.reuseId(stray.id, 'of another tool'));
  const cleanedUp = await cleaned(world).working;
  expect(cleanedUp.failure).toBeUndefined();
  expect(world.exchanges.log.exchanges.filter(({ path }) => path.endsWith(`/${stray.id}`))).toHaveLength(1);
  expect(world.plane.aliveKeys('of another tool')).toHaveLength(1);
});

it('a key that reads the list is alive, though the list calls it by another name', async () => {
  const world = new World();
  const { minted, working } = cleaned(world);
  Object.assign(minted, { name: 'SHOP-KEY' });
  expect((await working).failure).toBeUndefined();
  expect(world.plane.isAlive(minted.id)).toBe(false);
});

describe('a list of keys that announces more', () => {
  const paged = { notShown: { keysPageSize: 2 } };

  it('does not show that no key was left by an ambiguous create', async () => {
    const world = new World(paged);
    world.plane.addKey('by hand');
    const { minted, working } = cleaned(world);
    const cleanedUp = await working;
    expect(cleanedUp).toMatchObject({
      mayHaveStrayKey: true,
      failure: { message: expect.stringMatching(/announces more keys than it contains/) },
    });
    expect(world.plane.isAlive(minted.id)).toBe(false);
  });

  it('leads to the keys that it does show', async () => {
    const world = new World(paged);
    const other = world.plane.addKey('shop-key');
    const { working } = cleaned(world);
    world.plane.addKey('by hand');
    await working;
    expect(world.plane.isAlive(other.id)).toBe(false);
  });

  it('does not confirm a 404', async () => {
    const world = new World(paged);
    world.plane.addKey('by hand');
    world.faults.add({ endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } });
    const { minted, working } = cleaned(world);
    const { unconfirmed: left, failure } = await working;
    expect(left).toEqual([minted.id]);
    expect(failure).toMatchObject({ cause: { message: expect.stringMatching(/404.*list of keys is incomplete/) } });
  });
});

it('the parent key does not touch an id that is another key by now, whatever refused the minted key', async () => {
  for (const status of [401, 403, 404, 410]) {
    const world = new World();
    const minted = world.plane.addKey('shop-key');
    world.plane.reuseId(minted.id, 'prod-backup');
    const api = (apiKey: string) => {
      const access = { baseUrl: new URL('https://control.test/v2'), apiKey, requestTimeout: 5 * second };
      return new ControlApi(world.connect(), access, silent);
    };
    world.faults.add({ endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status } });
    const trace = { name: minted.name, mayHaveStrayKey: false, since: world.clock.epochMs(), revoke: true };
    const credentials = { minted: { id: minted.id, api: api(minted.key) }, parent: api(world.plane.apiKey) };
    const limit = new Deadline(world.clock, 20 * second, new Cancellation());
    const { failure } = await world.clock.run(
      cleanUp(trace, credentials, { deadline: limit, log: silent, random: () => 0.5 }),
    );
    expect(failure).toBeUndefined();
    expect(world.plane.isAlive(minted.id)).toBe(true);
    expect(world.exchanges.log.exchanges.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  }
});

it('a failure that no further request can change ends it at once', async () => {
  const exchange = async () => {
    throw new TransportError('HTTPS_PROXY is not a valid URL', { transient: false, mayHaveTakenEffect: false });
  };
  const clock = new VirtualClock();
  const access = { baseUrl: new URL('https://control.test/v2'), apiKey: 'minted-key', requestTimeout: 5 * second };
  const credentials = { minted: { id: '7', api: new ControlApi(exchange, access, silent) }, parent: undefined };
  const limit = new Deadline(clock, 20 * second, new Cancellation());
  const trace = { name: 'shop-key', mayHaveStrayKey: true, since: 0, revoke: true };
  const { unconfirmed: left } = await clock.run(
    cleanUp(trace, credentials, { deadline: limit, log: silent, random: () => 0.5 }),
  );
  expect(left).toEqual(['7']);
  expect(clock.now()).toBe(0);
});
