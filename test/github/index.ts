/**
 * GitHub's REST API in process, as far as it tells of workflow runs: `GET /repos/{owner}/{repo}/actions/runs/{run_id}`.
 *
 *     const github = await startGitHub({ token: 'gh-token', repository: 'acme/shop', repositoryId: 123456789 });
 *     github.addRun({ id: '9876543210', attempt: 1, status: 'in_progress', conclusion: null });
 *     github.run('9876543210').status = 'completed';   github.removeRun('9876543210');
 *     github.faults.add({ path: '/runs/123', nth: 1, fault: { kind: 'status', status: 503 } });
 *     github.requests.at(-1)?.headers.authorization;
 *     await github.close();
 *
 * - `url` is what GITHUB_API_URL would be.
 * - The repository is private: without the token, or by another name, all is 404, and with another token 401.
 * - It is also found by its id, `/repositories/{id}/actions/runs/{run_id}`, where GitHub sends those who use an old name.
 * - A request without a User-Agent is refused, as by GitHub.
 */
import {
  type Awaited,
  type Clock,
  type Exchange,
  Exchanges,
  FaultPlan,
  type FaultRule,
  systemClock,
} from '../control-plane/index.js';
import { startServer } from '../control-plane/server.js';
import { type Fault, GitHubApi } from './api.js';
import { Repository, type Run } from './repository.js';

export type { Fault } from './api.js';
export type { Run } from './repository.js';

export interface GitHubOptions {
  readonly token: string;
  /** Owner and name; matched without regard to case. */
  readonly repository: string;
  /** In digits, it may be beyond 2^53. */
  readonly repositoryId: number | string;
  /** `/api/v3`, as on GitHub Enterprise; empty when not given. */
  readonly basePath?: string;
  readonly faults?: readonly FaultRule<Fault>[];
  /** For delays, and for what answers say of time. */
  readonly clock?: Clock;
}

export interface RunningGitHub {
  readonly url: string;
  readonly faults: FaultPlan<Fault>;
  /** All so far, in order of arrival. */
  readonly requests: Exchange[];
  /** In progress, at its first attempt, and made now, when not told otherwise. */
  addRun(fields: Partial<Run> & { readonly id: string }): Run;
  /** To be changed as one likes; throws when there is none. */
  run(id: string): Run;
  removeRun(id: string): void;
  /** Resolves when that request has arrived, also if it had before; rejects when GitHub is closed first. */
  arrived(awaited?: Awaited): Promise<Exchange>;
  /** Cuts all connections and drops all that was still to be done. */
  close(): Promise<void>;
}

export async function startGitHub(options: GitHubOptions): Promise<RunningGitHub> {
  const { token, basePath = '', clock = systemClock } = options;
  const repository = new Repository(options.repository, String(options.repositoryId));
  const api = new GitHubApi({ token, repository, basePath, clock });
  const faults = new FaultPlan(1, options.faults);
  const exchanges = new Exchanges(api, faults, (fault, request) => api.toFault(fault, request));
  const server = await startServer(exchanges, clock);
  return {
    url: server.origin + basePath,
    faults,
    requests: exchanges.log.exchanges,
    addRun: (fields) => repository.addRun(fields, clock.now()),
    run: (id) => {
      const run = repository.run(id);
      if (!run) throw new Error(`There is no run ${id}.`);
      return run;
    },
    removeRun: (id) => repository.removeRun(id),
    arrived: (awaited) => exchanges.log.wait('arrived', awaited),
    close: async () => {
      exchanges.close();
      await server.close();
    },
  };
}
