import { describe, expect, type TestContext, test } from 'vitest';
import type { Fault, FaultRule } from '../../control-plane/index.js';
import { createControlPlane, startControlPlane } from '../../control-plane/index.js';
import { RequestError } from '../../src/http/errors.js';
import { httpExchange } from '../../src/http/http-exchange.js';
import { VirtualClock } from '../virtual/clock.js';
import { virtualNetwork } from '../virtual/network.js';

/** A control plane and the action's HTTP client, over virtual connections or over sockets. On both, time is virtual. */
async function connect({ onTestFinished }: TestContext, overSockets: boolean, faults: readonly FaultRule[]) {
  const clock = new VirtualClock();
  const options = { clock: clock.service, faults };
  const open = async () => {
    const service = createControlPlane(options);
    if (!overSockets)
      return { ...service, baseUrl: 'https://control.test/v2', exchange: virtualNetwork(service.exchanges, clock) };
    const served = await startControlPlane(options);
    onTestFinished(served.close);
    return { ...served, exchange: httpExchange() };
  };
  const { exchange, baseUrl, plane, requests, arrived, ended } = await open();
  const run = <T>(work: Promise<T>) => clock.run(work, { besideSockets: overSockets });
  /** The client can give the request up so long after its arrival. */
  const send = (method: 'GET' | 'POST', path: string, body?: string, afterMs = Number.POSITIVE_INFINITY) => {
    const headers = { authorization: `Bearer ${plane.apiKey}`, 'content-type': 'application/json' };
    const request = { method, url: new URL(`${baseUrl}/${path}`), headers, maxBytes: 1_000_000, ...(body && { body }) };
    const arrival = arrived({ n: requests.length + 1 }).catch(() => {});
    return run(exchange(request, (giveUp) => void arrival.then(() => clock.schedule(clock.now() + afterMs, giveUp))));
  };
  return { plane, requests, send, allEnded: () => run(ended()), elapsed: () => clock.now() };
}

const sent = { mayHaveTakenEffect: true, transient: true };
const lost = (said: RegExp) => ({ ...sent, message: expect.stringMatching(said) });

/** What the client has of each fault, and after how many milliseconds. */
const cases: readonly (readonly [what: string, Fault, outcome: object, after?: number])[] = [
  ['a connection cut before the headers', { kind: 'cut-before-headers' }, lost(/closed|reset/i)],
  ['no response', { kind: 'hang-before-headers' }, lost(/given up|aborted/), 5000],
  ['a redirect', { kind: 'redirect', location: 'http://[::1]:9/' }, { headers: { location: 'http://[::1]:9/' } }],
  ['a late response', { kind: 'delay', ms: 700 }, { status: 200 }, 700],
  [
    'a slow body',
    { kind: 'drip', intervalMs: 2 },
    { body: expect.stringMatching(/^\{"projects":.*\}$/) },
    expect.any(Number),
  ],
  ['a body that stops halfway', { kind: 'hang-mid-body' }, lost(/given up|closed|aborted/), 5000],
  ['a connection cut in the body', { kind: 'cut-mid-body' }, lost(/closed|aborted/)],
  ['an empty body', { kind: 'empty-body' }, { status: 200, body: '' }],
  ['an endless body', { kind: 'endless-body' }, lost(/larger than/), expect.any(Number)],
  ['a partial list', { kind: 'partial-list', announcedBy: 'link' }, { headers: { link: '<?page=2>; rel="next"' } }],
];

describe.for([
  ['over virtual connections', false],
  ['over sockets', true],
] as const)('%s', ([, overSockets]) => {
  test.for(cases)('of two requests only the first gets %s', async ([, fault, outcome, after = 0], context) => {
    const { send, requests, allEnded, elapsed } = await connect(context, overSockets, [{ nth: 1, fault }]);
    const afterMs = fault.kind.startsWith('hang') ? 5000 : undefined;
    const seen = await send('GET', 'projects', undefined, afterMs).catch((error: RequestError) => error);
    expect([seen, elapsed()]).toMatchObject([outcome, after]);
    await allEnded();
    expect(requests[0]).toMatchObject({ fault: fault.kind, endedAt: expect.any(Number) });
    if (!(seen instanceof RequestError)) expect(requests[0]?.status).toBe(seen.status);
    expect((await send('GET', 'projects')).status).toBe(200);
  });

  test('a request over a connection that the service closes is lost and has no effect', async (context) => {
    const faults = [{ count: 2, fault: { kind: 'close-on-next-request' } as const }];
    const { send, requests, plane } = await connect(context, overSockets, faults);
    await send('GET', 'projects');
    await expect(send('POST', 'api_keys', '{"key_name":"lost"}')).rejects.toThrow(/ECONNRESET|EPIPE|hang up/);
    expect(requests[1]).toMatchObject({ endpoint: 'create-key', status: undefined, fault: 'closed-on-arrival' });
    await send('POST', 'api_keys', '{"key_name":"sound"}');
    expect(plane.aliveKeys().map(({ name }) => name)).toEqual(['console', 'sound']);
  });
});
