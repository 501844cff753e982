import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseFault } from '../../control-plane/fault-notation.js';
import { type Fault, FaultPlan, type FaultRule, startControlPlane } from '../../control-plane/index.js';
import type { HttpResponse, TransportError } from '../../src/http/exchange.js';
import { VirtualClock } from '../virtual/clock.js';
import { fetchRaw } from './fetch-raw.js';
import { connect, createKey, networks } from './networks.js';
import { authority, good } from './tls/certificates.js';

const cut: Fault = { kind: 'cut-before-headers' };
const hang: Fault = { kind: 'hang-before-headers' };

/** A response, or the error that a client reports. */
type Outcome = Partial<HttpResponse> | Pick<TransportError, 'message' | 'transient' | 'mayHaveTakenEffect'>;

const lost = (message: RegExp, transient = true) => ({
  ...{ message: expect.stringMatching(message), transient, mayHaveTakenEffect: true },
});

type Fields<Kind> = Omit<Extract<Fault, { readonly kind: Kind }>, 'kind'>;

/** After how many milliseconds the client has it; at once if not given. */
interface Timing {
  readonly after?: number;
  readonly timeoutMs?: number;
}

const givesUp = { timeoutMs: 5000, after: 5000 };

/** For each kind of fault its variants, and the response or error of the client. */
const outcomes: { readonly [Kind in Fault['kind']]: readonly (readonly [Fields<Kind>, object, Timing?])[] } = {
  'cut-before-headers': [
    [{}, lost(/closed|reset/i)],
    [{ by: 'reset' }, lost(/closed|reset/i)],
  ],
  'hang-before-headers': [[{}, lost(/given up|aborted/), givesUp]],
  status: [
    [
      { status: 503, headers: { 'x-more': 'yes' }, body: 'busy' },
      { status: 503, body: 'busy', headers: { 'x-more': 'yes', 'x-request-id': 'req-1' } },
    ],
    [
      { status: 429, retryAfter: { seconds: 7 } },
      { status: 429, body: expect.stringContaining('"code":"FAULT"'), headers: { 'retry-after': '7' } },
    ],
    [
      { status: 429, retryAfter: { dateInSeconds: 90 } },
      { headers: { date: 'Mon, 01 Jan 2024 00:00:00 GMT', 'retry-after': 'Mon, 01 Jan 2024 00:01:30 GMT' } },
    ],
  ],
  html: [[{}, { status: 200, body: expect.stringContaining('<!DOCTYPE html>') }]],
  redirect: [[{ location: 'http://127.0.0.1:9/' }, { status: 302, headers: { location: 'http://127.0.0.1:9/' } }]],
  delay: [[{ ms: 700 }, { status: 200 }, { after: 700 }]],
  // One wait for each of the 335 characters.
  drip: [[{ intervalMs: 2 }, { status: 200, body: expect.stringMatching(/^\{"projects":.*\}$/) }, { after: 2 * 335 }]],
  'hang-mid-body': [[{}, lost(/given up|closed|aborted/), givesUp]],
  'cut-mid-body': [
    [{}, lost(/closed after \d{3} bytes of the body/)],
    [{ framing: 'chunked' }, lost(/closed after \d{3} bytes of the body/)],
    [{ by: 'reset' }, lost(/closed after \d{3} bytes of the body/)],
  ],
  'bad-json': [[{}, { status: 200, body: expect.stringMatching(/]<$/) }]],
  'empty-body': [[{}, { status: 200, body: '' }]],
  // Only a virtual connection has a bandwidth.
  'endless-body': [[{}, lost(/larger than the maximum of/, false), { after: expect.any(Number) }]],
  'close-on-next-request': [[{}, { status: 200 }]],
};

const cases = Object.entries(outcomes).flatMap(([kind, variants]) =>
  variants.map(([fields, outcome, timing]) => ({ fault: { kind, ...fields } as Fault, outcome, ...timing })),
);

for (const network of networks) {
  describe(`Over ${network}`, () => {
    test.for<Timing & { readonly fault: Fault; readonly outcome: object }>(cases)(
      'a client that meets the fault $fault sees the same as on the other network, and its next request is sound',
      async ({ fault, outcome, after = 0, timeoutMs }, context) => {
        const { run, client, requests, ended, elapsed } = await connect(context, network, {
          faults: [{ nth: 1, fault }],
        });
        const send = client();
        const seen: Outcome = await run(
          send('GET', '/v2/projects', timeoutMs === undefined ? {} : { timeoutMs }).catch(
            ({ message, transient, mayHaveTakenEffect }) => ({
              ...{ message, transient, mayHaveTakenEffect },
            }),
          ),
        );
        expect(seen).toMatchObject(outcome);
        expect(elapsed()).toEqual(after);
        await run(ended());
        expect(requests[0]).toMatchObject({ fault: fault.kind, endedAt: expect.any(Number) });
        if ('status' in seen) expect(requests[0]?.status).toBe(seen.status);
        expect((await run(send('GET', '/v2/projects'))).status).toBe(200);
      },
    );

    test('a connection that closes on its next request loses a POST, and a GET is repeated on a new one', async (context) => {
      const fault: Fault = { kind: 'close-on-next-request' };
      const { run, client, requests, plane } = await connect(context, network, {
        faults: [
          { count: 1, fault },
          { nth: 3, fault },
        ],
      });
      const [send, other] = [client(), client()];
      await run(send('GET', '/v2/projects'));
      expect((await run(other('GET', '/v2/projects'))).status).toBe(200);
      await expect(run(createKey(send, 'lost'))).rejects.toThrow(/ECONNRESET|EPIPE|hang up/);
      expect(requests[2]).toMatchObject({ endpoint: 'create-key', status: undefined, fault: 'closed-on-arrival' });
      expect(plane.aliveKeys('lost')).toEqual([]);
      await run(createKey(send, 'sound'));
      expect(plane.aliveKeys('sound')).toHaveLength(1);
      expect(await run(send('GET', '/v2/projects'))).toMatchObject({ status: 200, wasResent: true });
    });

    test.for<[Fault, number]>([
      [cut, 1],
      [{ ...cut, done: 'never' }, 0],
      [{ kind: 'status', status: 500 }, 0],
      [{ kind: 'status', status: 500, done: 'now' }, 1],
      [{ kind: 'html' }, 0],
      [{ kind: 'cut-mid-body' }, 1],
    ])('with the fault %j a create-key whose response is lost creates %i keys', async ([fault, keys], context) => {
      const { run, client, plane } = await connect(context, network, { faults: [{ fault }] });
      await run(createKey(client(), 'lost').catch(() => undefined));
      expect(plane.aliveKeys('lost')).toHaveLength(keys);
    });

    test.for<Fault>([
      { ...cut, done: { msAfterGivenUp: 3000 } },
      { ...hang, done: { msAfterGivenUp: 3000 } },
    ])('the request that meets %j is carried out 3 s after its connection ended', async (fault, context) => {
      const { run, client, plane, ended, pass } = await connect(context, network, { faults: [{ fault }] });
      const send = client();
      const patient: typeof send = (method, path, options) => send(method, path, { ...options, timeoutMs: 60_000 });
      createKey(patient, 'late').catch(() => undefined);
      await run(ended());
      await pass(2999);
      expect(plane.aliveKeys('late')).toEqual([]);
      await pass(1);
      expect(plane.aliveKeys('late')).toHaveLength(1);
    });
  });
}

test('a virtual request and its response each travel for the time of a trip', async (context) => {
  const { request, elapsed, requests } = await connect(context, 'virtual time', { trip: () => 40 });
  await request('GET', '/v2/projects');
  expect([elapsed(), requests[0]?.at]).toEqual([80, Date.UTC(2024, 0, 1) + 40]);
});

test.for([
  ['close', 'socket hang up'],
  ['reset', 'read ECONNRESET'],
] as const)('a TLS connection can be cut by %s', async ([by, error], { onTestFinished }) => {
  const service = await startControlPlane({ tls: good, faults: [{ fault: { ...cut, by } }] });
  onTestFinished(() => service.close());
  expect(await fetchRaw(`${service.baseUrl}/projects`, { ca: authority })).toMatchObject({ status: undefined, error });
});

test('closing the control plane ends its exchanges, rejects those who wait, and carries out no late request', async () => {
  const clock = new VirtualClock();
  const service = await startControlPlane({
    clock: clock.service,
    faults: [
      { endpoint: 'list-keys', fault: { kind: 'hang-mid-body' } },
      { endpoint: 'list-projects', fault: { kind: 'delay', ms: 1000 } },
      { endpoint: 'create-key', fault: { ...cut, done: { msAfterGivenUp: 1000 } } },
    ],
  });
  const key = service.apiKey;
  const headers = { 'content-type': 'application/json' };
  const body = '{"key_name":"late"}';
  await fetchRaw(`${service.baseUrl}/api_keys`, { method: 'POST', key, headers, body });
  await service.ended();
  const hanging = ['/api_keys', '/projects'].map((path) => fetchRaw(service.baseUrl + path, { key }));
  await service.arrived({ n: 3 });
  const another = service.arrived({ endpoint: 'revoke-key' });
  await service.close();
  for (const { error } of await Promise.all(hanging)) expect(error).toBeDefined();
  await expect(another).rejects.toThrow('closed');
  await clock.run(clock.sleep(2000));
  expect(service.plane.aliveKeys('late')).toEqual([]);
});

/** Which of ten equal requests the faults hit, counted from 1. */
function hits(plan: FaultPlan, count = 10): number[] {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return numbers.filter(() => plan.decide({ endpoint: 'get-operation', target: '/v2/projects/p/operations/o' }));
}

test.for<[Omit<FaultRule, 'fault'>, number[]]>([
  [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  [{ nth: 3 }, [3]],
  [{ from: 8 }, [8, 9, 10]],
  [{ count: 2 }, [1, 2]],
  [{ from: 3, count: 2 }, [3, 4]],
  [{ endpoint: 'get-operation', nth: 1 }, [1]],
  [{ endpoint: 'any', nth: 1 }, [1]],
  [{ endpoint: 'list-keys' }, []],
  [{ path: 'operations/o', nth: 1 }, [1]],
  [{ path: 'operations/other' }, []],
  [{ probability: 0 }, []],
])('a rule %j hits the requests %j of ten', ([rule, expected]) => {
  expect(hits(new FaultPlan<Fault>(1, [{ ...rule, fault: cut }]))).toEqual(expected);
});

test('chance depends on the seed, not on other rules', () => {
  const rule = { fault: cut, probability: 0.5 };
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const plan = new FaultPlan<Fault>(seed, [rule]);
      plan.add({ fault: hang, endpoint: 'list-keys', probability: 0.5 });
      expect(hits(plan)).toEqual(hits(new FaultPlan<Fault>(seed, [rule])));
    }),
  );
  expect(hits(new FaultPlan<Fault>(4, [{ ...rule, count: 3 }]))).toHaveLength(3);
});

test('a rule counts from when it was added until it is removed, and the first rule that hits wins', () => {
  const plan = new FaultPlan<Fault>(1);
  expect(hits(plan)).toEqual([]);
  const remove = plan.add({ fault: cut, from: 2 });
  expect(hits(plan, 3)).toEqual([2, 3]);
  remove();
  expect(hits(plan)).toEqual([]);
  plan.add({ fault: cut, nth: 1 });
  plan.add({ fault: hang, from: 1, count: 2 });
  const request = { endpoint: 'list-keys', target: '/v2/api_keys' } as const;
  expect([1, 2, 3, 4].map(() => plan.decide(request))).toEqual([cut, hang, hang, undefined]);
  plan.add({ fault: cut });
  plan.clear();
  expect(hits(plan)).toEqual([]);
});

test.for<[string, FaultRule]>([
  ['get-operation:3:503', { endpoint: 'get-operation', nth: 3, fault: { kind: 'status', status: 503 } }],
  ['any:2+:reset', { endpoint: 'any', from: 2, fault: { ...cut, by: 'reset' } }],
  [
    'list-keys:2-4:429=5',
    { endpoint: 'list-keys', from: 2, count: 3, fault: { kind: 'status', status: 429, retryAfter: { seconds: 5 } } },
  ],
  ['any:*:delay=20', { endpoint: 'any', fault: { kind: 'delay', ms: 20 } }],
  ['any:12.5%:bad-json', { endpoint: 'any', probability: 0.125, fault: { kind: 'bad-json' } }],
  [
    'create-key:1:done-later=3000',
    { endpoint: 'create-key', nth: 1, fault: { ...cut, done: { msAfterGivenUp: 3000 } } },
  ],
  [
    'any:1:redirect=http://127.0.0.1:9/x=y',
    { endpoint: 'any', nth: 1, fault: { kind: 'redirect', location: 'http://127.0.0.1:9/x=y' } },
  ],
])('the notation %s means the rule %j', ([text, rule]) => {
  expect(parseFault(text)).toEqual(rule);
});

test.for(['', 'any', 'any:1', 'other:1:503', 'any:0:503', 'any:4-2:503', 'any:1:99', 'any:1:delay', 'any:1:cut=1'])(
  'the notation %j is rejected',
  (text) => {
    expect(() => parseFault(text)).toThrow(`'${text}' is not a rule for a fault: `);
  },
);
