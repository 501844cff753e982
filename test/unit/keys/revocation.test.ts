import { expect, test } from 'vitest';
import type { Key } from '../../../src/api/records.js';
import { RequestError } from '../../../src/http/errors.js';
import type { Exchange, HttpResponse } from '../../../src/http/exchange.js';
import { Rate } from '../../../src/http/rate.js';
import { type Fate, revokeKeys } from '../../../src/keys/revocation.js';
import { apiBy, sendOnce } from '../../virtual/api.js';
import { deadlineAt } from '../../virtual/clock.js';

type Answer = number | string | Partial<HttpResponse> | Error;

const closed = new RequestError('The connection closed');
const page = (status: number): Answer => ({ status, body: '<!doctype html><title>Login</title>' });
const revoked = '{"id":7,"revoked":true}';
const key = (more = '') => `{"id":7,"name":"ours"${more}}`;
const other = '{"id":1,"name":"console"}';
const [present, absent] = [`[${other},${key()}]`, `[${other}]`];
const asRevoked = `[${key(',"revoked":true')}]`;

/** What lists show until this second. The last one shows it forever. */
type Lists = readonly (readonly [list: Answer, untilSecond?: number])[];
const forever: Lists = [[present]];
const goneAt = (second: number): Lists => [[present, second], [absent]];
const shownAt = (second: number): Lists => [[absent, second], [present]];
const shownBetween = (from: number, to: number): Lists => [[present, 0.1], [absent, from], [present, to], [absent]];

/** Answers to DELETE, the last of them to each further one; and lists. */
type Row = readonly [scene: string, deletes: readonly Answer[], lists: Lists, fate: Fate, deletes?: 'one' | 'many'];
test.for<Row>([
  ['revoked: true', [revoked], forever, 'revoked', 'one'],
  ['revoked: true without an id', ['{"revoked":true}'], forever, 'revoked', 'one'],
  ['revoked: true of the id as text', ['{"id":"7","revoked":true}'], forever, 'revoked', 'one'],
  ['revoked: true at the second DELETE', [503, revoked], forever, 'revoked', 'many'],
  ['revoked: true of another id, and lists that show the key', ['{"id":3,"revoked":true}'], forever, 'unknown', 'many'],
  ['revoked: "true", and lists that show the key', ['{"revoked":"true"}'], forever, 'unknown', 'many'],
  ['an empty 204, and lists that show the key', [204], forever, 'unknown', 'many'],
  ['an empty 204, and lists without the key', [204], goneAt(0.1), 'revoked', 'one'],
  ['a login page with 200, and lists that show the key', [page(200)], forever, 'unknown', 'many'],
  ['a lost answer and then a 404, and lists that show the key', [closed, 404], forever, 'unknown', 'many'],
  ['a 403, and lists without the key', [403], goneAt(0.1), 'revoked'],
  ['lists without the key for less than 10 s', [204], shownBetween(9, 100), 'unknown', 'many'],
  ['lists without the key for 10 s, after one that showed it again', [204], shownBetween(9, 11), 'revoked', 'many'],
  ['lists that show the key after 9 s for the first time', [revoked], shownAt(9), 'revoked', 'one'],
  ['lists that show the key after 12 s for the first time', [revoked], shownAt(12), 'not-found'],
  ['lists with an empty revoked_at', [revoked], [[`[${key(',"revoked_at":""')}]`]], 'revoked', 'one'],
  ['a lost answer, and lists that show the key as revoked', [closed], [[present, 0.1], [asRevoked]], 'revoked'],
  ['no list', [], [[503]], 'unknown'],
  ['a page in place of the list', [], [[page(200)]], 'unknown'],
  ['a list with a record without an id', [], [['[{"name":"ours"}]']], 'unknown'],
  ['a lost answer, and then no list', [closed], [[present, 0.1], [503]], 'unknown'],
])('%s: the fate of the key is %s', async ([, deletes, lists, fate, count]) => {
  const { clock, deadline } = deadlineAt(600_000);
  let sent = 0;
  const exchange: Exchange = async ({ method }) => {
    const listed = lists.find(([, until = Number.POSITIVE_INFINITY]) => clock.now() < until * 1_000)?.[0];
    const answer = (method === 'DELETE' ? deletes[Math.min(sent++, deletes.length - 1)] : listed) ?? 500;
    if (answer instanceof Error) throw answer;
    const given =
      typeof answer === 'number' ? { status: answer } : typeof answer === 'string' ? { body: answer } : answer;
    return { status: 200, headers: {}, body: '', ...given };
  };
  const rate = new Rate(clock, () => 0.5);
  const shared = { api: apiBy(exchange, rate), rate, deadline, random: () => 0.5 };
  const task = { ...shared, send: sendOnce(deadline), patience: 30_000, find: () => ['7'], count: 0 };
  const { keys } = await clock.run(revokeKeys(task));
  expect(keys).toMatchObject([{ id: '7', fate }]);
  expect(keys[0]?.failure === undefined).toBe(fate !== 'unknown');
  if (count !== undefined) expect(sent > 1 ? 'many' : 'one').toBe(count);
  if (deletes.length === 0 || fate === 'not-found') expect(sent).toBe(0);
  expect(clock.now()).toBeLessThanOrEqual(45_000);
});

test('a name counts as not found only if whole lists lack it for 10 s, however slow they are', async () => {
  const { clock, deadline } = deadlineAt(600_000);
  let lists = 0;
  const exchange: Exchange = async () => {
    if (++lists === 2) await deadline.sleep(29_900);
    return { status: 200, headers: {}, body: lists < 3 ? absent : present };
  };
  const rate = new Rate(clock, () => 0.5);
  const shared = { api: apiBy(exchange, rate), rate, deadline, random: () => 0.5, send: sendOnce(deadline) };
  const find = (listed: readonly Key[]) => listed.flatMap(({ id, name }) => (name === 'ours' ? id : []));
  const { keys } = await clock.run(revokeKeys({ ...shared, patience: 30_000, find, count: 0 }));
  expect(keys).toMatchObject([{ id: '7' }]);
});
