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
  ['before any read', false, []],
  ['after one read', false, [read(0)]],
  ['after two reads, if the second begins 5 s after the first ended', true, [read(0), read(5_100)]],
  ['after two reads, if the second begins sooner', false, [read(0), read(5_099, 9_000)]],
  ['if the second begins 5 s after the first began', false, [read(0, 3_000), read(5_000)]],
  ['after a read between the two, which changes nothing', true, [read(0), read(2_000), read(5_100)]],
  ['if the first read ended before all that counts', false, [busy(0), read(5_100)]],
  ['if all had ended at the next read, and a third one agrees', true, [busy(0), read(1_000), read(6_100)]],
  ['if an answer between the two speaks against it', false, [read(0), 'disturbed', read(5_100)]],
  ['if two more reads after that answer agree', true, [read(0), 'disturbed', read(5_100), read(10_200)]],
  ['if the answer came before the first read ended', true, ['disturbed', read(0), read(5_100)]],
  ['if the answer came after both reads', true, [read(0), read(5_100), 'disturbed']],
])('a project is idle %s: %s', ([, isProved, events]) => {
  expect(after(events).isProved).toBe(isProved);
});

test.for<[when: string, restsUntil: number, events: Event[]]>([
  ['before any read', 0, []],
  ['after a read that shows something unfinished', 0, [busy(0)]],
  ['for 5 s after the first of two reads', 5_100, [read(0)]],
  ['no longer because of another read', 5_100, [read(0), read(2_000)]],
  ['no more after an answer that speaks against it', 0, [read(0), 'disturbed']],
  ['anew after the next read', 9_000, [read(0), 'disturbed', read(3_900)]],
])('a list rests %s: until %i ms', ([, restsUntil, events]) => {
  expect(after(events).restsUntil).toBe(restsUntil);
});
