import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import type { Exchange, Fault, RunningControlPlane } from '../control-plane/index.js';
import { type Account, isSound } from './account.js';
import { ownRun, repositoryId } from './services.js';
import type { Services, Subject } from './subject.js';

/** What a step that ended green says of its keys, against what is so and what was shown to it. */
function wronglyRevoked(
  { main }: Account,
  { plane }: RunningControlPlane,
  over: readonly string[],
  isSure: boolean,
): string | undefined {
  const { outputs } = main.result;
  const revoked = JSON.parse(outputs['revoked-key-ids'] || '[]') as string[];
  const kept = JSON.parse(outputs['kept-key-ids'] || '[]') as string[];
  if (outputs['count'] !== String(revoked.length)) return 'count is not that of revoked-key-ids';
  const alive = over.filter((id) => plane.isAlive(id));
  if (isSure && alive.length > 0) return `key ${alive} is alive`;
  const both = revoked.filter((id) => kept.includes(id) || plane.isAlive(id) || !over.includes(id));
  if (both.length > 0) return `key ${both} is called revoked`;
  const unproved = over.filter((id) => !plane.isAlive(id) && !isProved(id, plane.key(id)?.revokedAt, main.exchanges));
  return unproved.length > 0 ? `no sound answer has ever said that key ${unproved} is gone` : undefined;
}

function isProved(id: string, revokedAt = Number.POSITIVE_INFINITY, exchanges: readonly Exchange[]): boolean {
  const isLater = ({ endedAt = 0 }: Exchange) => endedAt >= revokedAt;
  const own = exchanges.filter(({ path }) => path.endsWith(`/api_keys/${id}`));
  return (
    own.some((one) => isSound(one) && isLater(one)) ||
    // Not found, when a request of its own had been lost.
    own.slice(1).some(({ fault, status }) => fault === undefined && status === 404) ||
    exchanges.some((one) => one.endpoint === 'list-keys' && isSound(one) && isLater(one))
  );
}

function revocation(
  name: string,
  more: Partial<Subject>,
  how: (ids: readonly string[]) => Record<string, string>,
): Subject {
  return {
    name: `revoke-key, ${name}`,
    ...more,
    set: ({ control }) => {
      const ids = ['to-be-revoked', 'to-be-revoked-too'].map((one) => control.plane.addKey(one).id);
      const inputs = how(ids);
      const over = 'key-name' in inputs ? ids.slice(0, 1) : ids;
      return {
        inputs: { mode: 'revoke-key', ...inputs },
        mayRevoke: over,
        falsehood: (account) => wronglyRevoked(account, control, over, true),
      };
    },
  };
}

const notFound: Fault = { kind: 'status', status: 404 };
const ours = repositoryFingerprint('https://github.com', repositoryId);

/** Two keys whose runs are over, one whose run is not, and one of this run. */
function setSweep({ control, github }: Services) {
  github.addRun({ id: '11', status: 'completed', conclusion: 'success' });
  github.addRun({ id: '13' });
  const add = (id: string) => {
    const name = makeKeyName('shop', { run: { id, attempt: 1, fingerprint: ours }, isKept: false }, Math.random);
    return control.plane.addKeyOfAge(name, 7_200_000).id;
  };
  // GitHub knows of no run 12, and its key is old enough for that to count.
  const over = [add('11'), add('12')];
  for (const id of ['13', ownRun]) add(id);
  return {
    inputs: { mode: 'sweep-keys' },
    mayRevoke: over,
    // Where a run could not be seen its key is kept, and a warning says so.
    falsehood: (account: Account) => {
      const warnings = account.main.result.annotations.filter(({ kind }) => kind === 'warning');
      return wronglyRevoked(account, control, over, warnings.length === 0);
    },
  };
}

export const revocations: readonly Subject[] = [
  revocation('by ids', {}, (ids) => ({ 'key-id': ids.join(' ') })),
  revocation('by name', {}, () => ({ 'key-name': 'to-be-revoked' })),
  revocation(
    'not found at first',
    {
      inMain: [{ endpoint: 'revoke-key', nth: 1, fault: notFound }],
      // The first one is for the id of the name.
      isPlace: ({ endpoint, nth }) => endpoint === 'list-keys' && nth > 1,
    },
    () => ({ 'key-name': 'to-be-revoked' }),
  ),
  { name: 'sweep-keys', set: setSweep },
];
