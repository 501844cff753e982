import type { Log } from '../../api/log.js';
import { fewAtATime } from '../few-at-a-time.js';
import type { Gone, KeyToRevoke, Revoker } from './revocation.js';

export type Fate = { readonly id: string } & ({ readonly gone: Gone } | { readonly failure: unknown });

/** One failed revocation does not stop the others. */
export function revokeEach(keys: readonly KeyToRevoke[], revoker: Revoker, log: Log): Promise<Fate[]> {
  return fewAtATime(keys, async ({ id, name }): Promise<Fate> => {
    try {
      const gone = await revoker.revoke({ id, name });
      log.info(`Key ${id} ${gone === 'revoked' ? 'is revoked' : 'was gone already'}.`);
      return { id, gone };
    } catch (failure) {
      return { id, failure };
    }
  });
}
