import { STATUS_CODES } from 'node:http';
import type { Clock, PlaneAnswer, Fault as PlaneFault, PlaneRequest } from '../index.js';
import type { Repository, Run } from './repository.js';

export type Fault =
  | Exclude<PlaneFault, { kind: 'redirect' }>
  /** The token lacks `actions: read`. */
  | { readonly kind: 'no-permission' }
  | { readonly kind: 'rate-limit'; readonly status?: 403 | 429 }
  | { readonly kind: 'secondary-rate-limit'; readonly status?: 403 | 429; readonly retryAfterSeconds?: number }
  /** Default: to the same run by the repository's id, as for a renamed repository. */
  | { readonly kind: 'redirect'; readonly location?: string };

export interface ApiOptions {
  /** Undefined: any token is valid. */
  readonly token: string | undefined;
  readonly repository: Repository;
  readonly basePath: string;
  readonly clock: Clock;
}

/** This token may not read runs, as one without `actions: read`. */
const powerlessToken = 'no-permission';
const runPath = /^\/(?:repos\/(?<name>[^/]+\/[^/]+)|repositories\/(?<repositoryId>\d+))\/actions\/runs\/(?<runId>\d+)$/;

/** What GitHub responds to a request. Its repository is private. */
export class GitHubApi {
  readonly clock: Clock;
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.clock = options.clock;
    this.#options = options;
  }

  handle(request: PlaneRequest): PlaneAnswer {
    const { status, headers, body } = this.#respond(request);
    return { status, headers: { ...this.commonHeaders(), ...headers }, body };
  }

  errorAnswer(status: number, _code: string, _message: string, headers: PlaneAnswer['headers']): PlaneAnswer {
    const { body } = problem(status, STATUS_CODES[status] ?? 'Unknown');
    return { status, headers: { ...this.commonHeaders(), ...headers }, body };
  }

  #respond({ method, target, headers }: PlaneRequest): PlaneAnswer {
    const { authorization } = headers as { readonly authorization?: string };
    // GitHub rejects each client without a name.
    if (!headers['user-agent']) return problem(403, 'Request forbidden by administrative rules.');
    const [, token] = /^(?:token|bearer) +(\S+)$/i.exec(authorization ?? '') ?? [];
    const isValid = token !== undefined && token === (this.#options.token ?? token);
    if (authorization !== undefined && !isValid) return problem(401, 'Bad credentials');
    if (token === powerlessToken) return noPermission;
    const run = this.#find(target);
    // A client that may not read the repository does not learn that it exists.
    if (run === undefined || method !== 'GET' || !isValid) return problem(404, 'Not Found');
    const { id, attempt, status, conclusion } = run;
    const fields = JSON.stringify({ run_attempt: attempt, status, conclusion });
    // JSON.stringify would round a long id.
    return { status: 200, headers: {}, body: `{"id":${id},${fields.slice(1)}` };
  }

  #find(target: string): Run | undefined {
    const { basePath, repository } = this.#options;
    const [path = ''] = target.split('?');
    if (!path.startsWith(basePath)) return undefined;
    const { name, repositoryId, runId = '' } = runPath.exec(path.slice(basePath.length))?.groups ?? {};
    const isOurs = name === undefined ? repositoryId === repository.id : repository.isNamed(name);
    return isOurs ? repository.run(runId) : undefined;
  }

  /** A fault that only GitHub has, as a response of the server. */
  toFault(fault: Fault, { target, headers: { host = '' } }: PlaneRequest): PlaneFault {
    switch (fault.kind) {
      case 'no-permission':
        return replacing(noPermission);
      case 'rate-limit': {
        const reset = Math.floor(this.clock.now() / 1_000) + 3_600;
        const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) };
        return replacing(problem(fault.status ?? 403, 'API rate limit exceeded for installation ID 1.', headers));
      }
      case 'secondary-rate-limit': {
        const headers = { 'retry-after': String(fault.retryAfterSeconds ?? 60) };
        return replacing(problem(fault.status ?? 403, 'You have exceeded a secondary rate limit.', headers));
      }
      case 'redirect': {
        const { basePath, repository } = this.#options;
        const byId = `http://${host}${basePath}/repositories/${repository.id}${target.replace(/.*(?=\/actions\/)/, '')}`;
        return replacing(problem(301, 'Moved Permanently', { location: fault.location ?? byId }));
      }
      default:
        return fault;
    }
  }

  commonHeaders(): PlaneAnswer['headers'] {
    return {
      'content-type': 'application/json; charset=utf-8',
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '999',
      'x-ratelimit-reset': String(Math.floor(this.clock.now() / 1_000) + 3_600),
    };
  }
}

const noPermission = problem(403, 'Resource not accessible by integration');

function replacing(answer: PlaneAnswer): PlaneFault {
  return { kind: 'status', ...answer };
}

function problem(status: number, message: string, headers: PlaneAnswer['headers'] = {}): PlaneAnswer {
  const body = JSON.stringify({ message, documentation_url: 'https://docs.github.com/rest', status: String(status) });
  return { status, headers, body };
}
