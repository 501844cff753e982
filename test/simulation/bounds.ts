import type { Fault } from '../../control-plane/index.js';
import type { Outage } from './plan.js';
import type { Part } from './record.js';
import type { KeyWorld, Troubles, WaitWorld, WorldOperation } from './worlds.js';

type Values<W> = { readonly [F in keyof W]?: readonly W[F][] };

/** All combinations of its values are searched, each with one fault, one outage or one kill, and with none. */
export interface Bound {
  readonly worlds: Values<WaitWorld> | Values<KeyWorld>;
  /** Each request gets each of these. */
  readonly faults?: readonly Fault[];
  readonly outages?: Troubles['outages'];
  readonly kills?: boolean;
}

/** Only the last operation fails: after a failure nothing more happens. */
export function operations(
  count: number,
  begins: readonly WorldOperation['begins'][],
  lasts: readonly number[],
  late: readonly number[],
  last: WorldOperation['ends'] = 'failed',
): WorldOperation[][] {
  if (count === 0) return [[]];
  return operations(count - 1, begins, lasts, late, 'finished').flatMap((earlier) =>
    [...begins, ...earlier.map((_, after) => ({ after }))].flatMap((begins) =>
      lasts.flatMap((lasts) => late.map((appearsAfter) => [...earlier, { begins, lasts, ends: last, appearsAfter }])),
    ),
  );
}

const either = [true, false];
const bothSizes = { pageSize: [1, 2] };
const ages = [0, 1, 3, 6, 9, 10, 13];
const clocks = ['runner ahead', 'runner behind', 'no date', 'runner jumps', 'service jumps'] as const;
const copies = ['all', 'odd', 'even'] as const;
const replies = { says: ['revoked', 'nothing'], again: ['revoked', 'not-found'] } as const;

const lost = (done: 'now' | 'never' | number): Fault => ({
  kind: 'hang-before-headers',
  done: typeof done === 'string' ? done : { msAfterGivenUp: 1_000 * done },
});
const cut = (done: 'now' | 'never'): Fault => ({ kind: 'cut-before-headers', done });
const status = (code: number, more: object = {}): Fault => ({ kind: 'status', status: code, ...more });
const page = (code: number): Fault => ({ kind: 'html', status: code });
const faults: readonly Fault[] = [
  cut('never'),
  cut('now'),
  lost('never'),
  lost('now'),
  lost(3),
  lost(12),
  lost(45),
  // Accepted, and carried out 4 s later, or never.
  status(202, { body: '{}', done: { msAfterGivenUp: 4_000 } }),
  status(202, { body: '{}' }),
  { kind: 'bad-json' },
  status(502),
  status(502, { done: 'now' }),
  status(429),
  status(403),
  status(404),
  page(404),
  page(502),
];

type Answer = Pick<Outage, 'how' | 'status'>;

/** All requests of a part get this answer for a while. Seconds from the start of the part. */
export function outagesOf(answer: Answer, part: Part, froms: readonly number[], lengths: readonly number[]) {
  return froms.flatMap((from) =>
    lengths.map((seconds) => ({ ...answer, part, from: 1_000 * from, to: 1_000 * (from + seconds) })),
  );
}
const rejects: Answer = { how: 'status', status: 401 };
const gateway: readonly Answer[] = [
  ...[502, 403, 404, 429].map((code) => ({ how: 'status' as const, status: code })),
  { how: 'page', status: 404 },
  { how: 'page', status: 502 },
  { how: 'refused', status: 0 },
  { how: 'silent', status: 0 },
];
const everySecond = Array.from({ length: 20 }, (_, index) => index - 1);

/** These take seconds, those of `nightly` minutes. */
export const small: Readonly<Record<string, Bound>> = {
  'a wait for three operations': {
    worlds: { operations: operations(3, [-2, 1], [0, 4], [0, 4]), ...bothSizes },
  },
  'a wait for two operations with a Date header that is ahead': {
    worlds: { operations: operations(2, [-3_600, -2, 1, 3], [0, 1, 3], [0, 4]), ...bothSizes, dateAhead: [120] },
  },
  'a wait for two operations that end near the deadline': {
    worlds: { operations: operations(2, [-2, 22, 24, 26, 29], [0, 2, 25], [0, 4]), pageSize: [1], timeout: [30] },
  },
  'a wait for two operations with a failed request': {
    worlds: { operations: operations(2, [-3_600, -2, 1], [0, 2], [0, 4]), pageSize: [1] },
    faults: [status(503)],
  },
  'keys of different ages on replicas that lag': {
    worlds: { age: ages, lag: [0, 2, 4, 8], copies, hasParent: either, says: ['nothing'], jitter: [0, 0.99] },
  },
  'a key with one fault': { worlds: { age: [0, 13], lag: [0, 8], hasParent: either, says: ['nothing'] }, faults },
  'a key of a killed step': { worlds: { age: [0, 13], lag: [0, 8], hasParent: either, isKept: either }, kills: true },
  'a key in an outage that answers 401 to all requests': {
    worlds: { age: [1, 13], lag: [0, 8], hasParent: either, jitter: [0, 0.99] },
    outages: outagesOf(rejects, 'post', [-1, 0, 3, 9, 10], [0.5, 2, 8]),
  },
  'a key with a clock that is wrong': {
    worlds: { age: [0, 6], lag: [0, 8], hasParent: either, clocks },
    faults: [cut('never')],
  },
};

export const nightly: typeof small = {
  ...small,
  'a wait for three operations of many kinds': {
    worlds: { operations: operations(3, [-3_600, -2, 1, 3], [0, 1, 3], [0, 2, 4]), ...bothSizes },
  },
  'a wait for three operations on replicas that differ': {
    worlds: { operations: operations(3, [-3_600, -2, 1], [0, 2], [0]), ...bothSizes, copies, lag: [1, 2, 3, 4] },
  },
  'a wait for three operations with a failed request': {
    worlds: { operations: operations(3, [-3_600, -2, 1], [0, 2], [0, 4]), ...bothSizes },
    faults: [status(503)],
  },
  'keys of different ages on replicas that lag': {
    worlds: {
      age: Array.from({ length: 27 }, (_, half) => half / 2),
      lag: [0, 1, 2, 3, 4, 5, 6, 7, 8],
      copies,
      hasParent: either,
      ...replies,
      jitter: [0, 0.5, 0.99],
    },
  },
  'a key with one fault': {
    worlds: { age: ages, lag: [0, 2, 4, 8], copies, hasParent: either, ...replies },
    faults,
  },
  'a key with one fault and revoked keys that stay listed': {
    worlds: { age: [0, 6, 13], lag: [0, 2, 4, 8], copies, ...replies, listsRevoked: [true] },
    faults,
  },
  'a key with one fault and a clock that is wrong': {
    worlds: { age: [0, 3, 6, 9, 13], lag: [0, 8], copies, hasParent: either, says: ['nothing'], clocks },
    faults: [cut('never'), cut('now'), lost(12), status(502), status(404)],
  },
  'a key with one fault and keys that others revoke': {
    worlds: {
      age: [0, 6, 13],
      lag: [0, 8],
      copies,
      hasParent: either,
      ...replies,
      between: ['newest', 'parent', 'all'],
    },
    faults,
  },
  'a key of a killed step': {
    worlds: { age: ages, lag: [0, 2, 4, 8], copies, hasParent: either, ...replies, isKept: either },
    kills: true,
  },
  'a key in an outage that answers 401 to all requests': {
    worlds: { age: ages, lag: [0, 3, 8], hasParent: either, again: replies.again, jitter: [0, 0.5, 0.99] },
    outages: [
      ...outagesOf(rejects, 'main', [0], [0.5, 2, 8]),
      ...outagesOf(rejects, 'post', everySecond, [0.5, 1, 2, 4, 8]),
    ],
  },
  'a key in an outage of the gateway': {
    worlds: { age: [0, 3, 9, 13], lag: [0, 8], hasParent: either, says: ['nothing'], jitter: [0, 0.99] },
    outages: gateway.flatMap((answer) => [
      ...outagesOf(answer, 'main', [0], [0.5, 2, 8]),
      ...outagesOf(answer, 'post', [-1, 0, 1, 3, 6, 9, 12, 15], [0.5, 2, 8]),
    ]),
  },
};
