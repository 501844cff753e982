import { expect, test } from 'vitest';
import type { PostState } from '../../../../src/keys/post-state.js';
import { Revocation } from '../../../../src/keys/revocation.js';
import type { CleanUpResult } from '../../../../src/modes/post/clean-up.js';
import { doubts } from '../../../../src/modes/post/report.js';

const name = 'shop-run9876543210-1-aaaaaaaaaa-aaaaaaaaaaaa';
const minted = { id: '9', secret: 'the-minted-key' };
const revoked = (id: string) => ({
  id,
  revocation: new Revocation({ id, name }),
  isYoung: true,
  isGone: true,
  isListed: true,
});

test.for<[lost: number, foundByMain: string[], foundByPost: string[], warnings: number]>([
  [0, [], ['9'], 0],
  [1, [], ['9'], 1],
  [1, [], ['7', '9'], 0],
  [1, ['7'], ['7', '9'], 1],
  [2, ['7'], ['8', '9'], 1],
])(
  'of %i open creates, with %j found by main and %j by post, post gives %i warnings',
  ([lost, byMain, byPost, count]) => {
    const state: PostState = {
      baseUrl: 'https://control.test/v2',
      name,
      mayHaveStrayKey: true,
      lostCreates: lost,
      foundKeyIds: byMain,
      minted,
      since: 0,
      revoke: true,
      onFailure: 'warn',
      summary: true,
    };
    const result: CleanUpResult = {
      revoked: byPost.map(revoked),
      unconfirmed: [],
      mayHaveStrayKey: false,
      failure: undefined,
    };
    expect(doubts(result, state, true)).toHaveLength(count);
  },
);
