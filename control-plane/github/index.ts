/**
 * GitHub's REST API on the loopback interface, as far as it shows workflow runs:
 * `GET /repos/{owner}/{repo}/actions/runs/{run_id}`.
 *
 *     const github = await startGitHub({ token: 'gh-token', repository: 'acme/shop', repositoryId: 123456789 });
 *     github.addRun({ id: '9876543210', status: 'completed' });
 *     github.faults.add({ path: '/runs/123', nth: 1, fault: { kind: 'status', status: 503 } });
 *     github.requests.at(-1)?.headers['authorization'];
 *     await github.close();
 *
 * - `url` is the value for GITHUB_API_URL.
 * - The repository is private: 404 without the token or for another repository, 401 for another token.
 * - `/repositories/{id}/actions/runs/{run_id}` shows the run, too: GitHub redirects there from an old name.
 * - A request without a User-Agent gets 403.
 */
import { type Awaited, type Exchange, Exchanges, FaultPlan, systemClock } from '../index.js';
import { startServer } from '../server.js';
import { type Fault, GitHubApi } from './api.js';
import { Repository } from './repository.js';

export type { Fault } from './api.js';

export interface GitHubOptions {
  readonly token: string;
  /** Owner and name; in any case. */
  readonly repository: string;
  /** Digits: it may be beyond 2^53. */
  readonly repositoryId: number | string;
  /** `/api/v3` on GitHub Enterprise. Default: none. */
  readonly basePath?: string;
}

export interface RunningGitHub {
  readonly url: string;
  readonly faults: FaultPlan<Fault>;
  /** In order of arrival. */
  readonly requests: readonly Exchange[];
  readonly addRun: Repository['addRun'];
  /** Resolves once that request has arrived; rejects if GitHub is closed first. */
  arrived(awaited?: Awaited): Promise<Exchange>;
  /** Closes all connections. */
  close(): Promise<void>;
}

export async function startGitHub(options: GitHubOptions): Promise<RunningGitHub> {
  const { token, basePath = '' } = options;
  const repository = new Repository(options.repository, String(options.repositoryId));
  const api = new GitHubApi({ token, repository, basePath, clock: systemClock });
  const faults = new FaultPlan<Fault>(1);
  const exchanges = new Exchanges(api, faults, (fault, request) => api.toFault(fault, request));
  const server = await startServer(exchanges, systemClock);
  return {
    url: server.origin + basePath,
    faults,
    requests: exchanges.log.exchanges,
    addRun: (fields) => repository.addRun(fields),
    arrived: (awaited) => exchanges.log.wait('arrived', awaited),
    close: async () => {
      exchanges.close();
      await server.close();
    },
  };
}
