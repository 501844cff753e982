import { describe, expect, it } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../../src/http/exchange.js';
import type { OnCancel } from '../../../src/time/deadline.js';
import type { Fault } from '../../control-plane/index.js';
import { World } from '../../virtual/world.js';

const nothing: OnCancel = () => {};

async function exchange(
  world: World,
  send = world.connect(),
  { onStop = nothing, method = 'GET' as HttpRequest['method'] } = {},
): Promise<HttpResponse> {
  const headers = { authorization: `Bearer ${world.plane.apiKey}` };
  return world.clock.run(
    send({ method, url: new URL('https://control.test/v2/projects'), headers, maxBytes: 1_000 }, onStop),
  );
}

/** Each kind, and what comes of it: a status or the words of an error, and after how many milliseconds. */
const outcomes: { readonly [Kind in Fault['kind']]: readonly [Fault & { kind: Kind }, number | RegExp, number] } = {
  'hang-before-headers': [{ kind: 'hang-before-headers' }, /given up/, 5_000],
  'cut-before-headers': [{ kind: 'cut-before-headers' }, /closed after 0 bytes/, 0],
  status: [{ kind: 'status', status: 503 }, 503, 0],
  html: [{ kind: 'html' }, 200, 0],
  redirect: [{ kind: 'redirect', location: '/' }, 302, 0],
  delay: [{ kind: 'delay', ms: 700 }, 200, 700],
  'hang-mid-body': [{ kind: 'hang-mid-body' }, /given up/, 5_000],
  drip: [{ kind: 'drip', intervalMs: 1_000 }, /given up/, 5_000],
  'cut-mid-body': [{ kind: 'cut-mid-body' }, /closed after \d\d+ bytes/, 0],
  'bad-json': [{ kind: 'bad-json' }, 200, 0],
  'empty-body': [{ kind: 'empty-body' }, 200, 0],
  'endless-body': [{ kind: 'endless-body' }, /256 MiB/, 2_684],
  'close-on-next-request': [{ kind: 'close-on-next-request' }, 200, 0],
};

describe('the virtual network', () => {
  for (const [kind, [fault, outcome, ms]] of Object.entries(outcomes)) {
    it(`does what a socket would: ${kind}`, async () => {
      const world = new World({ faults: [{ fault }] });
      const giveUp: OnCancel = (call) => world.clock.schedule(5_000, call);

      const ended = exchange(world, world.connect(), { onStop: giveUp }).then(
        ({ status }) => status,
        (error: Error) => error.message,
      );

      if (typeof outcome === 'number') expect(await ended).toBe(outcome);
      else expect(await ended).toMatch(outcome);
      expect(Math.floor(world.clock.now())).toBe(ms);
      expect(world.exchanges.log.exchanges[0]?.endedAt).toBe(world.clock.epochMs());
    });
  }

  it('closes the connection of the one client whose next request comes, and takes what may be sent twice anew', async () => {
    const world = new World({ faults: [{ count: 2, fault: { kind: 'close-on-next-request' } }] });
    const [one, other] = [world.connect(), world.connect()];
    expect((await exchange(world, one)).status).toBe(200);
    expect((await exchange(world, other)).status).toBe(200);
    expect((await exchange(world, other)).status).toBe(200);
    await expect(exchange(world, one, { method: 'POST' })).rejects.toThrow('ECONNRESET');
    expect((await exchange(world, one)).status).toBe(200);
  });

  it('takes its time for each way', async () => {
    const world = new World({ trip: () => 40 });
    expect((await exchange(world)).status).toBe(200);
    expect(world.times).toEqual([40]);
    expect(world.clock.now()).toBe(80);
  });
});
