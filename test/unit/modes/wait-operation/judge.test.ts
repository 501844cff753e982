import { expect, test } from 'vitest';
import { parseFilter } from '../../../../src/modes/list/filter.js';
import { judge, ListRead, mayHideMore } from '../../../../src/modes/wait-operation/judge.js';
import type { JsonObject } from '../../../../src/text/json.js';

const fields = ['action', 'branch_id'];
/** What ended at this time or later counts. */
const since = Date.parse('2026-01-31T09:00:00Z');
const at = (ms: number) => new Date(since + ms).toISOString();
const hour = 3_600_000;

/** A record that was created and updated at these times, in milliseconds from `since`. */
const record = (created?: number, updated?: number): JsonObject => ({
  ...(created === undefined ? {} : { created_at: at(created) }),
  ...(updated === undefined ? {} : { updated_at: at(updated) }),
});

function ended(created?: number) {
  return { status: 'finished', record: record(created) };
}

/** A read of operations that were created an hour before `since`, and later. */
function readOf(...ids: readonly string[]): ListRead {
  const read = new ListRead(0);
  for (const [n, id] of ids.entries()) read.add({ id, ...ended(-hour + n) });
  return read;
}

const during = undefined;
const shown = readOf('id', 'other');
const notShown = readOf('other');
const empty = readOf();
/** Created an hour before `since`, and at `since`. */
const known = { old: { id: 'old', ...ended(-hour) }, young: { id: 'young', ...ended(0) } };
const ofAnHour = new ListRead(0);
for (const operation of Object.values(known)) ofAnHour.add(operation);

test.for<[when: string, read: ListRead | undefined, status: string, record: JsonObject, judgement: string]>([
  // An operation that any answer shows unfinished counts, however old it is.
  ['during the first read', during, 'running', record(-100 * hour), 'counts'],
  ['during the first read', during, 'a new word', record(-hour), 'counts'],
  ['shown by the first read', shown, 'cancelling', record(-hour), 'counts'],
  ['not shown by the first read', notShown, 'running', record(-100 * hour), 'counts'],

  // One that has ended counts if it ended at `since` or later.
  ['during the first read', during, 'failed', record(-hour, 0), 'counts'],
  ['during the first read', during, 'skipped', record(-hour, 1), 'counts'],
  ['during the first read', during, 'failed', record(-hour, -1), 'history'],
  ['shown by the first read', shown, 'cancelled', record(-hour, 0), 'counts'],
  ['shown by the first read', shown, 'cancelled', record(-hour, -1), 'history'],
  // The time of its creation replaces the time of its end. Without both, it is history.
  ['during the first read', during, 'failed', record(0), 'counts'],
  ['during the first read', during, 'failed', record(-1), 'history'],
  ['during the first read', during, 'failed', { created_at: 'soon', updated_at: 'later' }, 'history'],

  // One that is new counts, whenever it ended: not shown by the first read, and not created before the oldest one of it.
  ['not shown by the first read', notShown, 'failed', record(-hour, -hour), 'counts'],
  ['not shown by the first read', notShown, 'finished', record(-hour + 1, -1), 'counts'],
  ['not shown by the first read', notShown, 'failed', record(-hour - 1, -1), 'history'],
  ['not shown by the first read', notShown, 'failed', record(-hour - 1, 0), 'counts'],
  ['not shown by the first read', ofAnHour, 'failed', record(-1, -1), 'counts'],
  ['not shown by the first read', notShown, 'failed', {}, 'counts'],
  ['after an empty first read', empty, 'failed', record(-100 * hour, -100 * hour), 'counts'],
  ['shown by the first read', shown, 'failed', record(-hour, -hour), 'history'],
])('in a wait for all, an operation %s, with the status %s and %j: %s', ([, read, status, of, judgement]) => {
  expect(judge({ id: 'id', status, record: of }, read, since, parseFilter('', fields))).toBe(judgement);
});

test('an operation that the service starts by itself counts only if an action= line matches it', () => {
  for (const status of ['running', 'failed', 'finished']) {
    const operation = { id: 'id', status, record: { action: 'suspend_compute', ...record(0, 1) } };
    const judged = (filter: string) => judge(operation, empty, since, parseFilter(filter, fields));
    for (const filter of ['', 'action!=create_branch', 'branch_id!=br-1', 'action=create_branch'])
      expect(judged(filter)).toBe('excluded');
    for (const filter of ['action=suspend_compute', 'action=*']) expect(judged(filter)).toBe('counts');
  }
});

/** Of the first read, so many milliseconds before its newest. */
function shownBefore(ms: number) {
  const operation = { id: `${ms}`, ...ended(-ms) };
  ofAnHour.add(operation);
  return operation;
}

const { old, young } = known;
const fresh = { id: 'fresh', ...ended(1) };
test.for([
  ['with a new operation among known ones', [young, fresh, old], ofAnHour, since],
  ['of known operations of the last 5 s of the first read', [young, shownBefore(5_000)], ofAnHour, since],
  ['of anything, after an empty first read', [old], empty, since],
] as const)('a later read goes on behind a page %s', ([, page, read, recent]) => {
  expect(mayHideMore(page, read, recent)).toBe(true);
});

test.for([
  ['of known operations that goes back farther than 5 s', [young, shownBefore(5_001)], since],
  ['of old operations', [old], since],
  ['of known operations if the first read had nothing recent', [young], since + 1],
] as const)('a later read ends at a page %s', ([, page, recent]) => {
  expect(mayHideMore(page, ofAnHour, recent)).toBe(false);
});
