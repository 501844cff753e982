import { expect, test } from 'vitest';
import type { PostState } from '../../../src/keys/post-state.js';
import type { CleanUpResult } from '../../../src/post/clean-up.js';
import { KeyRegister } from '../../../src/post/key-register.js';
import { doubts } from '../../../src/post/report.js';
import { VirtualClock } from '../../virtual/clock.js';
import { silent } from '../../virtual/silent.js';

const name = 'shop-run9876543210-1-aaaaaaaaaa-aaaaaaaaaaaa';
const minted = { id: '9', secret: 'the-minted-key' };
const revoked = (id: string) => new KeyRegister(name, new VirtualClock(), silent, true).add(id, true);

test.for<[creates: number, foundByMain: string[], foundByPost: string[], warnings: number]>([
  [0, [], ['9'], 0],
  [1, [], ['9'], 1],
  [1, [], ['7', '9'], 0],
  [2, ['7'], ['7', '9'], 1],
  [2, ['7'], ['8', '9'], 0],
  [3, ['7'], ['8', '9'], 1],
])(
  'of %i ambiguous creates, with %j found by main and %j by post, post gives %i warnings',
  ([creates, byMain, byPost, count]) => {
    const state: PostState = {
      baseUrl: 'https://control.test/v2',
      name,
      ambiguousCreates: creates,
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
