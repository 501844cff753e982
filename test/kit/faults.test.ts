import { once } from 'node:events';
import { get } from 'node:https';
import { describe, expect, type TestContext, test } from 'vitest';
import { parseFault } from '../../control-plane/fault-notation.js';
import type { ControlPlaneOptions, Fault, FaultRule } from '../../control-plane/index.js';
import { createControlPlane, FaultPlan, startControlPlane } from '../../control-plane/index.js';
import { TransportError } from '../../src/http/errors.js';
import { httpExchange } from '../../src/http/http-exchange.js';
import { VirtualClock } from '../virtual/clock.js';
import { virtualNetwork } from '../virtual/network.js';
import { lost as cut, hang } from './fault.js';
import { authority, good } from './tls/certificates.js';

type Network = 'virtual time' | 'sockets';

/** A control plane and the action's HTTP client, in virtual time or over sockets. On both, time is virtual. */
async function connect({ onTestFinished }: TestContext, network: Network, options: ControlPlaneOptions) {
  const clock = new VirtualClock();
  const serviceOptions = { ...options, clock: clock.service };
  const open = async () => {
    if (network === 'virtual time') {
      const service = createControlPlane(serviceOptions);
      return { ...service, baseUrl: 'https://control.test/v2', exchange: virtualNetwork(service.exchanges, clock) };
    }
    const [service, client] = [await startControlPlane(serviceOptions), httpExchange()];
    for (const { close } of [service, client]) onTestFinished(close);
    return { ...service, exchange: client.exchange };
  };
  const { exchange, baseUrl, plane, requests, arrived, ended } = await open();
  const run = <T>(work: Promise<T>) => clock.run(work, { besideSockets: network === 'sockets' });
  /** With a timeout, the client gives the request up so long after its arrival. */
  const send = (method: 'GET' | 'POST', path: string, body?: string, timeoutMs = Number.POSITIVE_INFINITY) => {
    const headers = { authorization: `Bearer ${plane.apiKey}`, 'content-type': 'application/json' };
    const request = { method, url: new URL(`${baseUrl}/${path}`), headers, maxBytes: 1_000_000, ...(body && { body }) };
    const giveUpAt = arrived({ n: requests.length + 1 })
      .then(() => clock.now() + timeoutMs)
      .catch(() => Number.POSITIVE_INFINITY);
    return run(exchange(request, (giveUp) => void giveUpAt.then((time) => clock.schedule(time, giveUp))));
  };
  return {
    plane,
    requests,
    listProjects: (timeoutMs?: number) => send('GET', 'projects', undefined, timeoutMs),
    createKey: (name: string) => send('POST', 'api_keys', JSON.stringify({ key_name: name })),
    allEnded: () => run(ended()),
    elapsed: () => clock.now(),
  };
}

const sent = { mayHaveTakenEffect: true };
const lost = (said: RegExp, transient = true) => ({ ...sent, message: expect.stringMatching(said), transient });

const dates = { date: 'Mon, 01 Jan 2024 00:00:00 GMT', 'retry-after': 'Mon, 01 Jan 2024 00:01:30 GMT' };
const unavailable = /"projects":\[\].*"unavailable_project_ids":\["[\w-]+"\]/;

type Fields<Kind> = Omit<Extract<Fault, { readonly kind: Kind }>, 'kind'>;

/** For each kind of fault its variants, the response or error of the client, and after how many milliseconds it has that. */
const outcomes: { readonly [Kind in Fault['kind']]: readonly (readonly [Fields<Kind>, object, after?: number])[] } = {
  'cut-before-headers': [
    [{}, lost(/closed|reset/i)],
    [{ by: 'reset' }, lost(/closed|reset/i)],
  ],
  'hang-before-headers': [[{}, lost(/given up|aborted/), 5000]],
  status: [
    [
      { status: 503, headers: { 'x-more': 'yes' }, body: 'busy' },
      { status: 503, body: 'busy', headers: { 'x-more': 'yes', 'x-request-id': 'req-1' } },
    ],
    [
      { status: 429, retryAfter: { seconds: 7 } },
      { status: 429, body: expect.stringContaining('"code":"FAULT"'), headers: { 'retry-after': '7' } },
    ],
    [{ status: 429, retryAfter: { dateInSeconds: 90 } }, { headers: dates }],
  ],
  html: [[{}, { status: 200, body: expect.stringContaining('<!DOCTYPE html>') }]],
  redirect: [[{ location: 'http://127.0.0.1:9/' }, { status: 302, headers: { location: 'http://127.0.0.1:9/' } }]],
  delay: [[{ ms: 700 }, { status: 200 }, 700]],
  // One wait for each of the 335 characters.
  drip: [[{ intervalMs: 2 }, { status: 200, body: expect.stringMatching(/^\{"projects":.*\}$/) }, 2 * 335]],
  'hang-mid-body': [[{}, lost(/given up|closed|aborted/), 5000]],
  'cut-mid-body': [
    [{}, lost(/closed after \d{3} bytes of the body/)],
    [{ framing: 'chunked' }, lost(/closed after \d{3} bytes of the body/)],
    [{ by: 'reset' }, lost(/closed after \d{3} bytes of the body/)],
  ],
  'bad-json': [[{}, { status: 200, body: expect.stringMatching(/]<$/) }]],
  'empty-body': [[{}, { status: 200, body: '' }]],
  // Only a virtual connection has a bandwidth.
  'endless-body': [[{}, lost(/larger than the maximum of/, false), expect.any(Number)]],
  'partial-list': [
    [{ announcedBy: 'link' }, { body: expect.stringContaining('[]'), headers: { link: '<?page=2>; rel="next"' } }],
    [{ announcedBy: 'unavailable_project_ids' }, { body: expect.stringMatching(unavailable) }],
  ],
  'close-on-next-request': [[{}, { status: 200 }]],
};

const cases = Object.entries(outcomes).flatMap(([kind, variants]) =>
  variants.map(([fields, outcome, after = 0]) => [{ kind, ...fields } as Fault, outcome, after] as const),
);

describe.for(['virtual time', 'sockets'] as const)('with %s:', (network) => {
  test.for(cases)('only the first of two requests meets the fault %j', async ([fault, outcome, after], context) => {
    const options = { faults: [{ nth: 1, fault }] };
    const { listProjects, requests, allEnded, elapsed } = await connect(context, network, options);
    const timeoutMs = fault.kind.startsWith('hang') ? 5000 : undefined;
    const seen = await listProjects(timeoutMs).catch((error: TransportError) => error);
    expect(seen).toMatchObject(outcome);
    expect(elapsed()).toEqual(after);
    await allEnded();
    expect(requests[0]).toMatchObject({ fault: fault.kind, endedAt: expect.any(Number) });
    if (!(seen instanceof TransportError)) expect(requests[0]?.status).toBe(seen.status);
    expect((await listProjects()).status).toBe(200);
  });

  test('a closed keep-alive connection loses a POST, but a GET is repeated on a new one', async (context) => {
    const faults = [{ count: 2, fault: { kind: 'close-on-next-request' } as const }];
    const { listProjects, createKey, requests, plane } = await connect(context, network, { faults });
    await listProjects();
    await expect(createKey('lost')).rejects.toThrow(/ECONNRESET|EPIPE|hang up/);
    expect(requests[1]).toMatchObject({ endpoint: 'create-key', status: undefined, fault: 'closed-on-arrival' });
    await createKey('sound');
    expect(plane.aliveKeys().map(({ name }) => name)).toEqual(['console', 'sound']);
    expect(await listProjects()).toMatchObject({ status: 200 });
  });
});

test.for([
  ['close', 'socket hang up'],
  ['reset', 'read ECONNRESET'],
] as const)('a TLS connection can be cut by %s', async ([by, message], { onTestFinished }) => {
  const service = await startControlPlane({ tls: good, faults: [{ fault: { ...cut, by } }] });
  onTestFinished(() => service.close());
  const [error] = await once(get(`${service.baseUrl}/projects`, { ca: authority }), 'error');
  expect(error.message).toBe(message);
});

test('closing the control plane rejects pending waits and drops delayed requests', async () => {
  const clock = new VirtualClock();
  const faults = [parseFault('create-key:1:done-later=1000')];
  const { plane, exchanges, arrived } = createControlPlane({ clock: clock.service, faults });
  const headers = { authorization: `Bearer ${plane.apiKey}`, 'content-type': 'application/json' };
  const request = { method: 'POST', target: '/v2/api_keys', headers, body: '{"key_name":"late"}', from: '' };
  exchanges.receive(request).over();
  const another = arrived({ endpoint: 'revoke-key' });
  exchanges.close();
  await expect(another).rejects.toThrow('closed');
  await clock.run(clock.sleep(2000));
  expect(plane.aliveKeys('late')).toEqual([]);
});

/** Which of ten requests for an operation these rules hit, counted from 1. */
function hits(seed: number, ...rules: readonly FaultRule[]): number[] {
  const plan = new FaultPlan<Fault>(seed, rules);
  const request = { endpoint: 'get-operation', target: '/v2/projects/p/operations/o' } as const;
  return [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].filter(() => plan.decide(request));
}

test.for([
  ['any:*', 'all', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ['get-operation:3', 'the third', [3]],
  ['any:8+', 'the last three', [8, 9, 10]],
  ['get-operation:3-4', 'the third and fourth', [3, 4]],
  ['list-keys:*', 'none', []],
  ['any:0%', 'none', []],
] as const)('of ten requests for an operation, the fault rule %s applies to %s', ([rule, , expected]) => {
  expect(hits(1, parseFault(`${rule}:cut`))).toEqual(expected);
});

test('the chance of a fault depends on the seed, not on other fault rules', () => {
  const rule = { fault: cut, probability: 0.5 };
  const alone = [1, 2, 3].map((seed) => hits(seed, rule));
  const other = { fault: hang, endpoint: 'list-keys', probability: 0.5 } as const;
  expect([1, 2, 3].map((seed) => hits(seed, rule, other))).toEqual(alone);
  expect(new Set(alone.map(String)).size).toBe(3);
});

test.for<[string, Fault]>([
  ['503', { kind: 'status', status: 503 }],
  ['429=5', { kind: 'status', status: 429, retryAfter: { seconds: 5 } }],
  ['reset', { ...cut, by: 'reset' }],
  ['not-done', { ...cut, done: 'never' }],
  ['done-later=3000', { ...cut, done: { msAfterGivenUp: 3000 } }],
  ['delay=20', { kind: 'delay', ms: 20 }],
  ['bad-json', { kind: 'bad-json' }],
  ['redirect=http://127.0.0.1:9/x=y', { kind: 'redirect', location: 'http://127.0.0.1:9/x=y' }],
])('the notation %s means the fault %j', ([what, fault]) => {
  expect(parseFault(`any:12.5%:${what}`)).toEqual({ endpoint: 'any', probability: 0.125, fault });
});

// `test/docs/commands.test.ts` has the message for each part.
test.for(['', 'any:1', 'any:4-2:503', 'any:1:99', 'any:1:delay', 'any:1:cut=1'])('parseFault rejects %j', (text) => {
  expect(() => parseFault(text)).toThrow(`'${text}' is not a rule for a fault: `);
});
