import { expect, it } from 'vitest';
import type { Exchange, HttpResponse } from '../../../src/http/exchange.js';
import { createControlPlane, type Fault } from '../../control-plane/index.js';
import { VirtualClock } from '../../virtual/clock.js';
import { virtualNetwork } from '../../virtual/network.js';

/** A control plane with some faults, and clients of it. */
function setService(faults: readonly { readonly fault: Fault; readonly count?: number }[], trip?: () => number) {
  const clock = new VirtualClock();
  const { plane, exchanges } = createControlPlane({ faults, clock: clock.service });
  const headers = { authorization: `Bearer ${plane.apiKey}` };
  const url = new URL('https://control.test/v2/projects');
  const connect = () => virtualNetwork(exchanges, clock, trip === undefined ? {} : { trip });
  const send = (client: Exchange, method: 'GET' | 'POST' = 'GET', giveUpAt = 5_000): Promise<HttpResponse> =>
    clock.run(client({ method, url, headers, maxBytes: 1_000 }, (giveUp) => void clock.schedule(giveUpAt, giveUp)));
  return { clock, exchanges, connect, send };
}

/** For each kind its result, a status or the text of an error, and the milliseconds that it takes. */
const results: { readonly [Kind in Fault['kind']]: readonly [Fault & { kind: Kind }, number | RegExp, number] } = {
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

it.each(Object.entries(results))(
  'over the virtual network %s has the effect that it has over sockets',
  async (...row) => {
    const [, [fault, result, ms]] = row;
    const { clock, exchanges, connect, send } = setService([{ fault }]);

    const got = await send(connect()).then(
      ({ status }) => status,
      (error: Error) => error.message,
    );

    if (typeof result === 'number') expect(got).toBe(result);
    else expect(got).toMatch(result);
    expect(Math.floor(clock.now())).toBe(ms);
    expect(exchanges.log.exchanges[0]?.endedAt).toBe(clock.epochMs());
  },
);

it('a connection closes at the next request of its own client, which repeats a GET but no POST', async () => {
  const { connect, send } = setService([{ count: 2, fault: { kind: 'close-on-next-request' } }]);
  const [one, other] = [connect(), connect()];

  expect((await send(one)).status).toBe(200);
  expect((await send(other)).status).toBe(200);
  expect((await send(other)).status).toBe(200);
  await expect(send(one, 'POST')).rejects.toThrow('ECONNRESET');
  expect((await send(one)).status).toBe(200);
});

it('a request and its response each take the time of a trip', async () => {
  const { clock, exchanges, connect, send } = setService([], () => 40);
  const startedAt = clock.epochMs();

  expect((await send(connect())).status).toBe(200);
  expect([(exchanges.log.exchanges[0]?.at ?? 0) - startedAt, clock.now()]).toEqual([40, 80]);
});
