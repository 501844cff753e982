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

test.for<[claim: string, read: ListRead | undefined, status: string, record: JsonObject, judgement: string]>([
  // An operation that any answer shows unfinished counts, however old it is.
  ['that is running counts, even if it is 100 hours old', during, 'running', record(-100 * hour), 'counts'],
  ['with an unknown status counts', during, 'a new word', record(-hour), 'counts'],
  ['that is listed as cancelling counts', shown, 'cancelling', record(-hour), 'counts'],
  ['that is running but not listed counts', notShown, 'running', record(-100 * hour), 'counts'],

  // One that has ended counts if it ended at `since` or later.
  ['that failed at the limit of since counts', during, 'failed', record(-hour, 0), 'counts'],
  ['that was skipped after the limit of since counts', during, 'skipped', record(-hour, 1), 'counts'],
  ['that failed before the limit of since does not count', during, 'failed', record(-hour, -1), 'history'],
  ['that is listed as cancelled at the limit of since counts', shown, 'cancelled', record(-hour, 0), 'counts'],
  [
    'that is listed as cancelled before the limit of since does not count',
    shown,
    'cancelled',
    record(-hour, -1),
    'history',
  ],
  // The time of its creation replaces the time of its end. Without both, it is history.
  ['without updated_at counts if created at the limit of since', during, 'failed', record(0), 'counts'],
  ['without updated_at does not count if created before the limit of since', during, 'failed', record(-1), 'history'],
  ['with unreadable times does not count', during, 'failed', { created_at: 'soon', updated_at: 'later' }, 'history'],

  // One that is new counts, whenever it ended: not shown by the first read, and not created before the oldest one of it.
  ['that is not listed but as old as a listed one counts', notShown, 'failed', record(-hour, -hour), 'counts'],
  ['that is not listed but younger than a listed one counts', notShown, 'finished', record(-hour + 1, -1), 'counts'],
  [
    'that is older than the list and the limit of since does not count',
    notShown,
    'failed',
    record(-hour - 1, -1),
    'history',
  ],
  [
    'that is older than the list but failed at the limit of since counts',
    notShown,
    'failed',
    record(-hour - 1, 0),
    'counts',
  ],
  ['that is not listed but between two listed ones counts', ofAnHour, 'failed', record(-1, -1), 'counts'],
  ['that is not listed and has no times counts', notShown, 'failed', {}, 'counts'],
  ['that failed long ago counts if none was listed', empty, 'failed', record(-100 * hour, -100 * hour), 'counts'],
  [
    'that is listed and failed before the limit of since does not count',
    shown,
    'failed',
    record(-hour, -hour),
    'history',
  ],
])('with operation-id: all, an operation %s', ([, read, status, of, judgement]) => {
  expect(judge({ id: 'id', status, record: of }, read, since, parseFilter('', fields))).toBe(judgement);
});

test('an operation that the service starts by itself counts only if an action= line of the filter matches it', () => {
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
  ['of known operations from the last 5 s of the first read', [young, shownBefore(5_000)], ofAnHour, since],
  ['of old operations if the first read was empty', [old], empty, since],
] as const)('a later read of the list continues after a page %s', ([, page, read, recent]) => {
  expect(mayHideMore(page, read, recent)).toBe(true);
});

test.for([
  ['of known operations that goes back more than 5 s', [young, shownBefore(5_001)], since],
  ['of operations that are too old to count', [old], since],
  ['of known operations if the first read had nothing recent', [young], since + 1],
] as const)('a later read of the list ends at a page %s', ([, page, recent]) => {
  expect(mayHideMore(page, ofAnHour, recent)).toBe(false);
});
