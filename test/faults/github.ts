import { type Fault, type RunningGitHub, startGitHub } from '../../control-plane/github/index.js';
import type { LookupFailure } from '../../src/modes/sweep-keys/workflow-runs.js';
import { delay } from '../kit/fault.js';
import type { Chance } from '../simulation/chance.js';
import { type GitHubRun, githubToken, ownRun } from '../simulation/plan.js';

const notFound: Fault = { kind: 'status', status: 404 };
const permanent: readonly Fault[] = [{ kind: 'no-permission' }, { kind: 'status', status: 401 }, { kind: 'redirect' }];
const transient: readonly Fault[] = [
  ...([500, 503].map((status) => ({ kind: 'status', status })) satisfies Fault[]),
  ...[{ kind: 'html', status: 502 } as const, delay(3_000)],
  ...(['bad-json', 'empty-body', 'cut-before-headers', 'cut-mid-body'] as const).map((kind) => ({ kind })),
];

/** GitHub as the plan wants it, with a fault of a drawn kind for each run that it does not show. */
export async function startGitHubOf(runs: ReadonlyMap<string, GitHubRun>, chance: Chance): Promise<RunningGitHub> {
  const github = await startGitHub({ token: githubToken, repository: 'acme/shop', repositoryId: '5' });
  const { hiddenAfter } = runs.get(ownRun) ?? {};
  if (hiddenAfter !== undefined) github.faults.add({ fault: notFound, from: hiddenAfter + 1 });
  for (const [id, { state, first, times }] of runs) {
    if (state !== 'gone')
      github.addRun({ id, attempt: state.attempt ?? 1, status: state.isCompleted ? 'completed' : 'in_progress' });
    if (first !== undefined) github.faults.add({ path: `/runs/${id}`, fault: faultFor(first, chance), count: times });
  }
  return github;
}

function faultFor(first: 'gone' | 'hangs' | LookupFailure, chance: Chance): Fault {
  if (first === 'gone') return notFound;
  if (first === 'hangs') return { kind: 'hang-before-headers' };
  if (first.status === 429) return chance.pick<Fault>([{ kind: 'rate-limit' }, { kind: 'secondary-rate-limit' }]);
  return chance.pick(first.transient ? transient : permanent);
}
