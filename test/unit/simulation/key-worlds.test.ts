import { describe, expect, it } from 'vitest';
import { violationsIn } from '../../simulation/exhaustive.js';
import { small } from '../../simulation/key-worlds/bounds.js';
import { runWorld } from '../../simulation/key-worlds/judge.js';
import { search } from '../../simulation/key-worlds/search.js';
import { type KeyWorld, plain } from '../../simulation/key-worlds/world.js';

/** The nightly run searches all worlds. */
const everySeventh = { index: 0, of: 7 };

describe('create-key and its post leave no key without an alarm, and raise none in a healthy world', () => {
  for (const [name, bound] of Object.entries(small))
    it(name, async () => {
      expect(await violationsIn(search(bound, everySeventh))).toEqual([]);
    });
});

const outage = (answer: '401' | '502' | '404' | 'page 404', from: number, seconds: number) =>
  ({ part: 'post', from, seconds, answer }) as const;
const lostCreate = { part: 'main', nth: 1, what: 'lost after' } as const;

/** Rules of an earlier post took the key of each of these worlds for a dead one, or raised a false alarm. */
const scenes: Readonly<Record<string, Partial<KeyWorld>>> = {
  'an outage answers 401 to all, and ends between two questions, without a parent key': {
    hasParent: false,
    outages: [outage('401', -1, 2.6)],
  },
  'an outage answers 401 to all for 8 s, without a parent key': { hasParent: false, outages: [outage('401', 0, 8)] },
  'a young key gets a 404 and nothing else until it is old': { age: 0, unknown: 8, copies: 'even', says: 'nothing' },
  'a gateway answers 404 after an outage of 401': { outages: [outage('401', -1, 3), outage('404', 2, 4)] },
  'a gateway answers with a page after an outage of 401': { outages: [outage('401', -1, 3), outage('page 404', 2, 4)] },
  'a create that was refused is not lost': { faults: [{ part: 'main', nth: 1, what: '429' }] },
  'a 502 to the DELETE, and then a 404 of a gateway': {
    faults: [
      { part: 'post', nth: 1, what: '502' },
      { part: 'post', nth: 2, what: '404' },
    ],
  },
  'one 401 of a confused copy, without a parent key': { hasParent: false, outages: [outage('401', 0, 0.1)] },
  'a stray key stays listed with revoked: true': {
    says: 'nothing',
    listsRevoked: true,
    faults: [lostCreate],
  },
  'a stray key that another revoked is listed with revoked: true': {
    listsRevoked: true,
    faults: [lostCreate],
    between: 'all keys revoked',
  },
};

describe('post ends each key, or names it, although', () => {
  for (const [name, scene] of Object.entries(scenes))
    it(name, async () => {
      const { violation, job } = await runWorld({ ...plain, ...scene });
      expect(violation).toBeUndefined();
      for (const { revokedAt } of job.made) expect(revokedAt).toBeLessThan(Number.POSITIVE_INFINITY);
    });
});

describe('the judge of the worlds sees', () => {
  it('an alarm, if copies accept a revoked key for longer than it thinks', async () => {
    const { alarms, violation } = await runWorld({ ...plain, age: 0, unknown: 8, accepted: 12 });
    expect({ alarms: alarms.length, violation }).toEqual({ alarms: 1, violation: undefined });
  });
});
