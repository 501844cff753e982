import { expect, it } from 'vitest';
import { NoCredential } from '../../../../src/modes/post/clean-up.js';
import { cleanUpReport } from '../../../../src/modes/post/report.js';

const trace = {
  baseUrl: 'https://control.test/v2',
  name: 'shop-run1-1-seal-random',
  mayHaveStrayKey: true,
  minted: undefined,
  since: 0,
  revoke: true,
  onFailure: 'warn',
  summary: true,
} as const;

it('names each of a few keys in the log, where there may be no summary', () => {
  const ids = ['1', '2', '3', '4', '5', '6'];
  const revoked = ids.map((id) => ({ id, outcome: 'revoked' as const, since: 0 }));
  const { headline } = cleanUpReport(
    { revoked, unconfirmed: [], mayHaveStrayKey: false, failure: undefined },
    trace,
    1_000,
  );
  expect(headline).toBe(ids.map((id) => `Key ${id} was revoked, 1s after it was created`).join('; '));
});

it.each([
  ['shop-run19512345678-1-z0c6cwr9im-abcdefghijkl', 'sweep-keys revokes it once this run is over.'],
  ['shop-kept19512345678-1-y0sppva20c-abcdefghijkl', 'sweep-keys does not revoke it.'],
])('a warning about a key that was left says whether a sweep finds it: %s', (name, advice) => {
  const cleanedUp = { revoked: [], unconfirmed: ['5'], mayHaveStrayKey: false, failure: new NoCredential() };
  const { warnings } = cleanUpReport(cleanedUp, { ...trace, name }, 1_000);
  expect(warnings).toMatchObject([expect.stringContaining(advice)]);
});
