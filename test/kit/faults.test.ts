import { describe, expect, test } from 'vitest';
import { parseFault } from '../../control-plane/fault-notation.js';
import { createControlPlane, type Fault, FaultPlan, startControlPlane } from '../../control-plane/index.js';
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
      const faults = [{ count: 2, fault: { kind: 'close-on-next-request' } as const }];
      const { run, client, requests, plane } = await connect(context, network, { faults });
      const send = client();
      await run(send('GET', '/v2/projects'));
      await expect(run(createKey(send, 'lost'))).rejects.toThrow(/ECONNRESET|EPIPE|hang up/);
      expect(requests[1]).toMatchObject({ endpoint: 'create-key', status: undefined, fault: 'closed-on-arrival' });
      await run(createKey(send, 'sound'));
      expect(plane.aliveKeys().map(({ name }) => name)).toEqual(['console', 'sound']);
      expect(await run(send('GET', '/v2/projects'))).toMatchObject({ status: 200, wasResent: true });
    });
  });
}

test.for([
  ['cut', 1, 1],
  ['not-done', 0, 0],
  ['done-later=3000', 0, 1],
  ['500', 0, 0],
  ['html', 0, 0],
  ['cut-mid-body', 1, 1],
] as const)('a create-key with the fault %s makes %i keys at once, and %i after 3 s', async (row, context) => {
  const [what, atOnce, later] = row;
  const faults = [parseFault(`create-key:1:${what}`)];
  const { request, plane, pass } = await connect(context, 'virtual time', { faults });
  await createKey(request, 'lost').catch(() => undefined);
  await pass(2999);
  expect(plane.aliveKeys('lost')).toHaveLength(atOnce);
  await pass(1);
  expect(plane.aliveKeys('lost')).toHaveLength(later);
});

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

test('closing the control plane rejects those who wait, and carries out no late request', async () => {
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

/** Which of ten equal requests the faults hit, counted from 1. */
function hits(plan: FaultPlan, count = 10): number[] {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return numbers.filter(() => plan.decide({ endpoint: 'get-operation', target: '/v2/projects/p/operations/o' }));
}

test.for([
  ['any:*', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ['get-operation:3', [3]],
  ['any:8+', [8, 9, 10]],
  ['get-operation:3-4', [3, 4]],
  ['list-keys:*', []],
  ['any:0%', []],
] as const)('a rule %s hits the requests %j of ten for an operation', ([rule, expected]) => {
  expect(hits(new FaultPlan(1, [parseFault(`${rule}:cut`)]))).toEqual(expected);
});

test('chance depends on the seed, not on other rules', () => {
  const rule = { fault: cut, probability: 0.5 };
  const alone = [1, 2, 3].map((seed) => hits(new FaultPlan<Fault>(seed, [rule])));
  const other = { fault: hang, endpoint: 'list-keys', probability: 0.5 } as const;
  expect([1, 2, 3].map((seed) => hits(new FaultPlan<Fault>(seed, [rule, other])))).toEqual(alone);
  expect(new Set(alone.map(String)).size).toBe(3);
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

test.for<[string, Fault]>([
  ['503', { kind: 'status', status: 503 }],
  ['429=5', { kind: 'status', status: 429, retryAfter: { seconds: 5 } }],
  ['reset', { ...cut, by: 'reset' }],
  ['delay=20', { kind: 'delay', ms: 20 }],
  ['bad-json', { kind: 'bad-json' }],
  ['redirect=http://127.0.0.1:9/x=y', { kind: 'redirect', location: 'http://127.0.0.1:9/x=y' }],
])('the notation %s means the fault %j', ([what, fault]) => {
  expect(parseFault(`any:12.5%:${what}`)).toEqual({ endpoint: 'any', probability: 0.125, fault });
});

// `test/docs/commands.test.ts` has the message for each part.
test.for(['', 'any:1', 'any:4-2:503', 'any:1:99', 'any:1:delay', 'any:1:cut=1'])(
  'the notation %j is rejected',
  (text) => {
    expect(() => parseFault(text)).toThrow(`'${text}' is not a rule for a fault: `);
  },
);
