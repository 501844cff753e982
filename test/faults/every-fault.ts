import type { Fault } from '../control-plane/index.js';

type Named = Readonly<Record<string, Fault>>;

const soon = { msAfterGivenUp: 300 };

/**
 * Every kind, and of each all that a network, a proxy or the service can make of it; of statuses that are treated alike two
 * stand for all.
 */
const kinds: { readonly [Kind in Fault['kind']]: Readonly<Record<string, Fault & { kind: Kind }>> } = {
  'hang-before-headers': {
    'hang, carried out': { kind: 'hang-before-headers' },
    'hang, not carried out': { kind: 'hang-before-headers', done: 'never' },
    'hang, carried out 300 ms later': { kind: 'hang-before-headers', done: soon },
  },
  'cut-before-headers': {
    'closed, carried out': { kind: 'cut-before-headers' },
    'closed, not carried out': { kind: 'cut-before-headers', done: 'never' },
    'closed, carried out 300 ms later': { kind: 'cut-before-headers', done: soon },
    'reset, carried out': { kind: 'cut-before-headers', by: 'reset' },
  },
  status: {
    '400': { kind: 'status', status: 400 },
    '401': { kind: 'status', status: 401 },
    '403': { kind: 'status', status: 403 },
    '404': { kind: 'status', status: 404 },
    '408, not carried out': { kind: 'status', status: 408 },
    '408, carried out': { kind: 'status', status: 408, done: 'now' },
    '409': { kind: 'status', status: 409 },
    '423': { kind: 'status', status: 423 },
    '425, not carried out': { kind: 'status', status: 425 },
    '425, carried out': { kind: 'status', status: 425, done: 'now' },
    '429': { kind: 'status', status: 429 },
    '429, Retry-After 1 s': { kind: 'status', status: 429, retryAfter: { seconds: 1 } },
    '429, Retry-After 60 s': { kind: 'status', status: 429, retryAfter: { seconds: 60 } },
    '500, not carried out': { kind: 'status', status: 500 },
    '500, carried out': { kind: 'status', status: 500, done: 'now' },
    '503, not carried out': { kind: 'status', status: 503 },
    '503, carried out': { kind: 'status', status: 503, done: 'now' },
    '503, carried out, Retry-After 60 s': { kind: 'status', status: 503, done: 'now', retryAfter: { seconds: 60 } },
  },
  html: {
    'HTML 200, not carried out': { kind: 'html' },
    'HTML 200, carried out': { kind: 'html', done: 'now' },
    'HTML 403, not carried out': { kind: 'html', status: 403 },
    // As by a proxy that lets no secret through.
    'HTML 403, carried out': { kind: 'html', status: 403, done: 'now' },
    'HTML 503, not carried out': { kind: 'html', status: 503 },
    'HTML 503, carried out': { kind: 'html', status: 503, done: 'now' },
  },
  redirect: {
    'redirect, not carried out': { kind: 'redirect', location: '/elsewhere' },
    'redirect, carried out': { kind: 'redirect', location: '/elsewhere', done: 'now' },
  },
  'hang-mid-body': { 'hang mid-body': { kind: 'hang-mid-body' } },
  'cut-mid-body': {
    'cut mid-body, with a length': { kind: 'cut-mid-body' },
    'cut mid-body, in chunks': { kind: 'cut-mid-body', framing: 'chunked' },
    'reset mid-body': { kind: 'cut-mid-body', by: 'reset' },
  },
  'bad-json': { 'bad JSON': { kind: 'bad-json' } },
  'empty-body': { 'empty body': { kind: 'empty-body' } },
  drip: { 'drip of bytes': { kind: 'drip', intervalMs: 100 } },
  'endless-body': { 'endless body': { kind: 'endless-body' } },
  delay: {
    'bearable delay': { kind: 'delay', ms: 100 },
    'delay beyond any patience': { kind: 'delay', ms: 6_000 },
  },
  'close-on-next-request': { 'closed on the next request': { kind: 'close-on-next-request' } },
};

export const everyFault: Named = Object.assign({}, ...Object.values(kinds));

/** Where nothing is changed, it is the same whether the request is carried out. */
export const everyFaultOfLists: Named = pick((fault) => !('done' in fault) || 'retryAfter' in fault);

/** One of each way in which a client can meet them, for what lasts: that takes long, and the simulation lets all last. */
export const typicalFaults: Named = pick((_, name) =>
  [
    'hang, carried out 300 ms later',
    'reset, carried out',
    '401',
    '429, Retry-After 60 s',
    '503, carried out',
    'bad JSON',
  ].includes(name),
);
export const typicalFaultsOfLists: Named = pick((_, name) =>
  [
    'hang, carried out',
    'reset, carried out',
    '404',
    '429, Retry-After 60 s',
    'HTML 200, not carried out',
    'closed on the next request',
  ].includes(name),
);

function pick(isWanted: (fault: Fault, name: string) => boolean): Named {
  return Object.fromEntries(Object.entries(everyFault).filter(([name, fault]) => isWanted(fault, name)));
}
