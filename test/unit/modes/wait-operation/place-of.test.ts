import { expect, test } from 'vitest';
import { parseFilter } from '../../../../src/modes/list/filter.js';
import { placeOf, type Scope } from '../../../../src/modes/wait-operation/place-of.js';
import type { JsonObject } from '../../../../src/text/json.js';

const fields = ['action', 'branch_id'];
const minute = 60_000;
const began = Date.parse('2026-01-31T09:00:00Z');
const at = (ms: number) => new Date(began + ms).toISOString();
const created = (ms: number, ...updated: number[]): JsonObject =>
  Object.assign({ created_at: at(ms) }, ...updated.map((one) => ({ updated_at: at(one) })));
const since: Partial<Scope> = { sinceMs: began - 10 * minute };
const late: Partial<Scope> = { nowMs: began + 3 * minute };
const later: Partial<Scope> = { seen: 'later', nowMs: began + 8 * minute };

test.for<[status: string, record: JsonObject, scope: Partial<Scope>, place: string]>([
  // Unfinished operations, whenever they were created.
  ['running', created(-60 * minute), {}, 'awaited'],
  ['running', created(-60 * minute), later, 'awaited'],
  ['a new word', {}, {}, 'awaited'],
  // Those that the first read shows as ended.
  ['finished', created(-1, 1), {}, 'history'],
  ['failed', created(-60 * minute, -6 * minute), {}, 'history'],
  ['failed', created(-60 * minute, -4 * minute), {}, 'failed-before'],
  ['failed', { ...created(-1, -1), action: 'suspend_compute' }, {}, 'history'],
  ['failed', { ...created(-1, -1), branch_id: 'theirs' }, { filter: parseFilter('branch_id=ours', fields) }, 'history'],
  // The same, after the service did not respond for some minutes.
  ['failed', created(-60 * minute, 1), { nowMs: began + 2_001 }, 'awaited'],
  ['failed', created(-60 * minute, 1), { nowMs: began + 2_000 }, 'failed-before'],
  ['failed', created(-60 * minute, 0), { ...late, nowMs: began + 6 * minute }, 'history'],
  ['failed', created(-60 * minute, 3 * minute + 1), late, 'failed-before'],
  ['finished', created(-1, 2_001), { ...late, seen: 'again' }, 'history'],
  ['failed', created(-10 * minute, -9 * minute), since, 'awaited'],
  ['finished', created(-10 * minute), since, 'awaited'],
  ['finished', {}, since, 'awaited'],
  ['finished', created(-10 * minute - 1, -9 * minute), since, 'history'],
  ['failed', { ...created(-minute), action: 'suspend_compute' }, since, 'history'],
  // Those that appear after the first read, and have ended by then.
  ['failed', created(-minute, -minute + 1), later, 'awaited'],
  ['finished', created(1_000, 2_000), later, 'awaited'],
  ['failed', created(-minute - 1, 1), later, 'awaited'],
  ['failed', created(-minute - 1, 0), later, 'history'],
  ['failed', created(-minute - 1, 0), { ...later, nowMs: began + 4 * minute }, 'failed-before'],
  ['failed', { updated_at: at(1) }, later, 'awaited'],
  ['failed', { updated_at: at(-6 * minute) }, later, 'history'],
  ['failed', {}, later, 'awaited'],
  ['failed', created(-minute - 1), later, 'history'],
])('a wait sorts an operation that is %s, with %j and the scope %o, as %s', ([status, record, scope, place]) => {
  const times = { beganMs: began, sinceMs: undefined, nowMs: began };
  const whole: Scope = { filter: parseFilter('', fields), ...times, seen: 'first', ...scope };
  expect(placeOf({ id: 'id', status, record }, whole)).toBe(place);
});
