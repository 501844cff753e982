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
type Row = readonly [scene: string, fate: Fate, deletes: readonly Answer[], lists: Lists, deletes?: 'one' | 'many'];
test.for<Row>([
  ['a DELETE that says revoked: true', 'revoked', [revoked], forever, 'one'],
  ['a DELETE that says revoked: true without an id', 'revoked', ['{"revoked":true}'], forever, 'one'],
  ['a DELETE that says revoked: true of the id as text', 'revoked', ['{"id":"7","revoked":true}'], forever, 'one'],
  ['a second DELETE that says revoked: true', 'revoked', [503, revoked], forever, 'many'],
  ['a DELETE that names another id, and lists with the key', 'unknown', ['{"id":3,"revoked":true}'], forever, 'many'],
  ['a DELETE that says revoked: “true”, and lists with the key', 'unknown', ['{"revoked":"true"}'], forever, 'many'],
  ['an empty 204 to the DELETE, and lists with the key', 'unknown', [204], forever, 'many'],
  ['an empty 204 to the DELETE, and lists without the key', 'revoked', [204], goneAt(0.1), 'one'],
  ['a login page with status 200, and lists with the key', 'unknown', [page(200)], forever, 'many'],
  ['a DELETE without a response, then a 404, and lists with the key', 'unknown', [closed, 404], forever, 'many'],
  ['a 403 to the DELETE, and lists without the key', 'revoked', [403], goneAt(0.1)],
  ['lists that lack the key for less than 10 s', 'unknown', [204], shownBetween(9, 100), 'many'],
  ['lists that lack the key for 10 s after one that showed it again', 'revoked', [204], shownBetween(9, 11), 'many'],
  ['lists that show the key for the first time after 9 s', 'revoked', [revoked], shownAt(9), 'one'],
  ['lists that show the key for the first time after 12 s', 'not-found', [revoked], shownAt(12)],
  ['lists with an empty revoked_at, and a DELETE', 'revoked', [revoked], [[`[${key(',"revoked_at":""')}]`]], 'one'],
  ['a DELETE without a response, and a list that says revoked', 'revoked', [closed], [[present, 0.1], [asRevoked]]],
  ['lists that fail with 503', 'unknown', [], [[503]]],
  ['an HTML page in place of the list', 'unknown', [], [[page(200)]]],
  ['a list in which a record has no id', 'unknown', [], [['[{"name":"ours"}]']]],
  ['a DELETE without a response, and then lists that fail with 503', 'unknown', [closed], [[present, 0.1], [503]]],
])('after %s, the result for a key is %s', async ([, fate, deletes, lists, count]) => {
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
  expect(clock.now()).toBeLessThanOrEqual(30_000);
});

test('a key name counts as not found only if complete lists lack it for 10 s, however slow they are', async () => {
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
