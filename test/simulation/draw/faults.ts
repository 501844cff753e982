import type { Done, RetryAfter } from '../../../control-plane/faults.js';
import type { Endpoint, Fault, FaultRule } from '../../../control-plane/index.js';
import type { Chance } from '../chance.js';
import type { Outage } from '../plan.js';

/** Whether the service carries out the request nevertheless: at once, never, or when the client has given up. */
function drawDone(chance: Chance): Done {
  const late = chance.pick([chance.from(1, 4_000), chance.from(1, 25_000), 45_000]);
  return chance.pick<Done>(['now', 'never', { msAfterGivenUp: late }]);
}

function drawRetryAfter(chance: Chance): { readonly retryAfter?: RetryAfter } {
  if (chance.odds(0.4)) return {};
  const seconds = chance.pick([1, 2, 5, chance.below(30), chance.below(200), 3_600]);
  return { retryAfter: chance.odds(0.8) ? { seconds } : { dateInSeconds: seconds } };
}

/** The service creates a key, and its response contains it in a form that is of no use. */
const unusable = [
  { status: 200, body: '{"id":"@minted@","key":"@minted@"}' },
  { status: 500, body: '{"id":1,"key":"@minted@","message":"@minted@"}' },
  // The id of nobody.
  { status: 200, body: '{"id":424242,"key":"@minted@"}' },
];

function drawFault(chance: Chance, endpoint: Endpoint): Fault {
  const done = drawDone(chance);
  // Some services repeat the key in their errors, plain or encoded.
  const echo = chance.pick(['@key@', 'Bearer @key@', '@base64@', '@escaped@']);
  const repeatsKey = { body: `{"message":"${echo}","code":"BAD"}` };
  const page = chance.pick([200, 200, 401, 403, 404, 429, 502, 503]);
  const retryAfter = drawRetryAfter(chance);
  const announcedBy = chance.pick(['link', 'unavailable_project_ids'] as const);
  const status = (status: number, more: object = {}): Fault => ({ kind: 'status', status, ...more });
  // The client treats the kinds of a group alike, so each group is equally frequent.
  const groups: readonly (readonly Fault[])[] = [
    [{ kind: 'hang-before-headers', done }, { kind: 'hang-mid-body' }],
    [{ kind: 'cut-before-headers', done }, { kind: 'cut-mid-body' }, { kind: 'close-on-next-request' }],
    [
      { kind: 'delay', ms: chance.below(chance.pick([800, 6_000, 40_000])) },
      { kind: 'drip', intervalMs: 60 },
    ],
    [
      { kind: 'bad-json' },
      { kind: 'empty-body' },
      { kind: 'endless-body' },
      endpoint === 'create-key' ? { kind: 'status', ...chance.pick(unusable), done: 'now' } : { kind: 'bad-json' },
      // Accepted, and perhaps never carried out.
      status(chance.pick([200, 202]), { body: chance.pick(['{}', 'null', '{"revoked":false}']), done }),
    ],
    // A page with 429 proves that the request was not carried out.
    [{ kind: 'html', status: page, done: page === 429 ? 'never' : done }],
    [{ kind: 'redirect', location: 'https://elsewhere.test/v2/api_keys?token=@key@', done }],
    [status(chance.pick([429, 429, 423, 425]), retryAfter)],
    [
      status(chance.pick([500, 502, 503, 504, 408, 520]), { done, ...(chance.odds(0.4) ? retryAfter : {}) }),
      status(chance.pick([500, 503]), repeatsKey),
    ],
    [status(chance.pick([404, 404, 401, 403, 400, 409, 422])), status(chance.pick([400, 401, 403]), repeatsKey)],
    ...(endpoint === 'list-operations' ? [[{ kind: 'partial-list', announcedBy } as const]] : []),
  ];
  return chance.pick(chance.pick(groups));
}

/** Once, in a burst, at random, or always. */
function drawRule(chance: Chance, endpoint: Endpoint): FaultRule {
  const when = chance.pick<Omit<FaultRule, 'fault' | 'endpoint'>>([
    { nth: 1 + chance.upTo(6) },
    { from: 1, count: chance.from(1, 3) },
    { from: chance.from(1, 4), count: chance.from(1, 14) },
    { probability: chance.pick([0.2, 0.5, 0.8]), count: chance.from(1, 20) },
    { from: chance.from(1, 3) },
  ]);
  const path = endpoint === 'list-operations' && chance.odds(0.4) ? { path: 'cursor=' } : {};
  return { endpoint, ...path, ...when, fault: drawFault(chance, endpoint) };
}

/** Often none or one, or several at the same time. */
export function drawFaults(chance: Chance, endpoints: readonly Endpoint[]): FaultRule[] {
  return chance.times(chance.pick([0, 0, 1, 1, 1, 2, 3, 4]), () => drawRule(chance, chance.pick(endpoints)));
}

export function drawOutages(chance: Chance): Outage[] {
  return chance.times(chance.pick([0, 0, 0, 0, 1, 1, 2]), () => {
    const from = chance.pick([chance.below(100), chance.below(1_500), chance.below(20_000), chance.upTo(40_000)]);
    const lasts = chance.pick([100, 250, 500, 3_000, 10_000, 30_000, Number.POSITIVE_INFINITY]);
    const how = chance.pick(['refused', 'silent', 'silent', 'page', 'page', 'proxy']);
    return { from, to: from + lasts, how, status: chance.pick([404, 404, 403, 429, 502, 503]) };
  });
}

/** So long after the n-th request, response or message to the runner. */
export function drawInterruption(chance: Chance, odds: number, spanMs: number) {
  if (!chance.odds(odds)) return undefined;
  const on = chance.pick(['request', 'request', 'response', 'message']);
  const nth = on === 'message' ? chance.from(1, 16) : chance.from(1, 5);
  return {
    what: chance.pick(['kill', 'signal']),
    on,
    nth,
    ms: chance.pick([0, 0, 40, 300, 2_000, chance.upTo(spanMs)]),
  };
}

/** The runner does not accept the n-th message of a kind. */
export function drawRunnerFault(chance: Chance) {
  return chance.odds(0.04) ? { kind: chance.pick(['output', 'state', 'summary']), nth: chance.from(1, 4) } : undefined;
}
