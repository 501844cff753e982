import { expect, test } from 'vitest';
import { Quiet } from '../../../../src/modes/wait-operation/quiet.js';

type Event = 'disturbed' | { readonly beganAt: number; readonly endedAt: number; readonly allEnded: boolean };

/** A read that lasts 100 ms, and at whose end all that counts was seen to end. */
const read = (beganAt: number, endedAt = beganAt + 100): Event => ({ beganAt, endedAt, allEnded: true });
/** A read at whose end something that counts is unfinished. */
const busy = (beganAt: number): Event => ({ beganAt, endedAt: beganAt + 100, allEnded: false });

const after = (events: readonly Event[]) =>
  events.reduce((quiet, event) => (event === 'disturbed' ? quiet.disturbed() : quiet.afterRead(event)), Quiet.none);

test.for<[when: string, isProved: boolean, events: Event[]]>([
  ['not idle before its list was read', false, []],
  ['not idle after one read of its list', false, [read(0)]],
  ['idle if its list is read again 5 s after the end of the first read', true, [read(0), read(5_100)]],
  ['not idle if its list is read again less than 5 s after the first read', false, [read(0), read(5_099, 9_000)]],
  ['not idle if its list is read again 2 s after the end of a slow first read', false, [read(0, 3_000), read(5_000)]],
  ['idle after two reads 5 s apart with a third between them', true, [read(0), read(2_000), read(5_100)]],
  ['not idle if the first of two reads shows an unfinished operation', false, [busy(0), read(5_100)]],
  ['idle if only the first of three reads shows an unfinished operation', true, [busy(0), read(1_000), read(6_100)]],
  ['not idle if an operation is seen unfinished between two reads', false, [read(0), 'disturbed', read(5_100)]],
  ['idle if two more reads follow an unfinished operation', true, [read(0), 'disturbed', read(5_100), read(10_200)]],
  ['idle if an operation was seen unfinished only before two reads', true, ['disturbed', read(0), read(5_100)]],
  ['idle even if an operation is seen unfinished after two reads', true, [read(0), read(5_100), 'disturbed']],
])('a project is %s', ([, isProved, events]) => {
  expect(after(events).isProved).toBe(isProved);
});

test.for<[when: string, restsUntil: number, events: Event[]]>([
  ['at once if the list was never read', 0, []],
  ['at once after a read that shows an unfinished operation', 0, [busy(0)]],
  ['5 s after a read without an unfinished operation', 5_100, [read(0)]],
  ['5 s after the first of two reads without an unfinished operation', 5_100, [read(0), read(2_000)]],
  ['at once after another response that shows an unfinished operation', 0, [read(0), 'disturbed']],
  ['5 s after a read that follows an unfinished operation', 9_000, [read(0), 'disturbed', read(3_900)]],
])('the next read of a list is due %s', ([, restsUntil, events]) => {
  expect(after(events).restsUntil).toBe(restsUntil);
});
