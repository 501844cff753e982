import { STATUS_CODES } from 'node:http';
import type { Clock, PlaneAnswer, Fault as PlaneFault, PlaneRequest } from '../control-plane/index.js';
import type { Repository, Run } from './repository.js';

export type Fault =
  | Exclude<PlaneFault, { kind: 'redirect' }>
  /** The token lacks `actions: read`. */
  | { readonly kind: 'no-permission' }
  | { readonly kind: 'rate-limit'; readonly status?: 403 | 429; readonly resetInSeconds?: number }
  | { readonly kind: 'secondary-rate-limit'; readonly status?: 403 | 429; readonly retryAfterSeconds?: number }
  /**
   * To the same thing by the repository's id, when no location is given, as from the old name of a renamed repository. A rule
   * with the path `/repos/` does not strike the request that follows.
   */
  | { readonly kind: 'redirect'; readonly status?: number; readonly location?: string };

export interface ApiOptions {
  /** Any, when undefined. */
  readonly token: string | undefined;
  readonly repository: Repository;
  readonly basePath: string;
  readonly clock: Clock;
}

const docs = 'https://docs.github.com/rest';
const runDocs = `${docs}/actions/workflow-runs#get-a-workflow-run`;
const rateLimitDocs = `${docs}/using-the-rest-api/rate-limits-for-the-rest-api`;

const runPath = /^\/(?:repos\/(?<name>[^/]+\/[^/]+)|repositories\/(?<repositoryId>\d+))\/actions\/runs\/(?<runId>\d+)$/;

/** Of a job's own token. */
const requestsPerHour = 1000;

/** What GitHub says to a request. Its repository is private. */
export class GitHubApi {
  readonly clock: Clock;
  readonly #token: string | undefined;
  readonly #repository: Repository;
  readonly #basePath: string;
  readonly #hourEnds: number;
  #answered = 0;

  constructor({ token, repository, basePath, clock }: ApiOptions) {
    this.#token = token;
    this.#repository = repository;
    this.#basePath = basePath;
    this.clock = clock;
    this.#hourEnds = this.#seconds() + 3600;
  }

  handle(request: PlaneRequest): PlaneAnswer {
    const { status, headers, body } = this.#soundAnswer(request);
    return { status, headers: { ...this.commonHeaders(), ...headers }, body };
  }

  errorAnswer(status: number, _code: string, _message: string, headers: PlaneAnswer['headers']): PlaneAnswer {
    const { body } = problem(status, STATUS_CODES[status] ?? 'Unknown', runDocs);
    return { status, headers: { ...this.commonHeaders(), ...headers }, body };
  }

  #soundAnswer({ method, target, headers }: PlaneRequest): PlaneAnswer {
    const authorization = headers['authorization'];
    if (!headers['user-agent']) return noUserAgent;
    if (!this.#admits(authorization)) return problem(401, 'Bad credentials', docs);
    const asked = this.#find(target);
    if (!asked || method !== 'GET') return problem(404, 'Not Found', docs);
    // Whoever has no right to read the repository shall not learn that it exists.
    if (!asked.run || authorization === undefined) return problem(404, 'Not Found', runDocs);
    return answerOf(200, this.#repository.runJson(asked.run, originOf(headers)));
  }

  /** Without a token at all, one is a stranger, and welcome. */
  #admits(authorization: string | undefined): boolean {
    if (authorization === undefined) return true;
    const [, token] = /^(?:token|bearer) +(\S+)$/i.exec(authorization) ?? [];
    return token !== undefined && token === (this.#token ?? token);
  }

  /** Undefined when the path is none of a run. */
  #find(target: string): { readonly runId: string; readonly run: Run | undefined } | undefined {
    const [path = ''] = target.split('?');
    if (!path.startsWith(this.#basePath)) return undefined;
    const { name, repositoryId, runId } = runPath.exec(path.slice(this.#basePath.length))?.groups ?? {};
    if (runId === undefined) return undefined;
    const isOurs = name === undefined ? repositoryId === this.#repository.id : this.#repository.isNamed(name);
    return { runId, run: isOurs ? this.#repository.run(runId) : undefined };
  }

  /** What only GitHub has, or words in its own way, as an answer of that status. */
  toFault(fault: Fault, request: PlaneRequest): PlaneFault {
    switch (fault.kind) {
      case 'no-permission': {
        const headers = { 'x-accepted-github-permissions': 'actions=read' };
        return replacing(problem(403, 'Resource not accessible by integration', runDocs, headers));
      }
      case 'rate-limit': {
        const headers = {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-used': String(requestsPerHour),
          'x-ratelimit-reset': String(this.#seconds() + (fault.resetInSeconds ?? 3600)),
        };
        const message = 'API rate limit exceeded for installation ID 1.';
        return replacing(problem(fault.status ?? 403, message, rateLimitDocs, headers));
      }
      case 'secondary-rate-limit': {
        const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
        const link = `${rateLimitDocs}#about-secondary-rate-limits`;
        const headers = { 'retry-after': String(fault.retryAfterSeconds ?? 60) };
        return replacing(problem(fault.status ?? 403, message, link, headers));
      }
      case 'redirect': {
        const location = fault.location ?? this.#urlById(request);
        const body = { message: 'Moved Permanently', url: location, documentation_url: docs };
        return replacing(answerOf(fault.status ?? 301, JSON.stringify(body), { location }));
      }
      default:
        return fault;
    }
  }

  #urlById({ target, headers }: PlaneRequest): string {
    const repository = `${originOf(headers)}${this.#basePath}/repositories/${this.#repository.id}`;
    const asked = this.#find(target);
    return asked ? `${repository}/actions/runs/${asked.runId}` : repository;
  }

  commonHeaders(): PlaneAnswer['headers'] {
    this.#answered++;
    return {
      'content-type': 'application/json; charset=utf-8',
      'x-github-media-type': 'github.v3; format=json',
      'x-github-request-id': `${hex(this.#answered)}:1C0D:2A5E11:55D0C9:${hex(this.#seconds())}`,
      'x-ratelimit-limit': String(requestsPerHour),
      'x-ratelimit-remaining': String(Math.max(0, requestsPerHour - this.#answered)),
      'x-ratelimit-reset': String(this.#hourEnds),
      'x-ratelimit-used': String(this.#answered),
      'x-ratelimit-resource': 'core',
    };
  }

  #seconds(): number {
    return Math.floor(this.clock.now() / 1000);
  }
}

/** GitHub asks every client for one, and a client that forgets it works nowhere but in tests. */
const noUserAgent = answerOf(403, 'Request forbidden by administrative rules: it has no User-Agent header.\n', {
  'content-type': 'text/html; charset=utf-8',
});

function replacing(answer: PlaneAnswer): PlaneFault {
  return { kind: 'status', ...answer };
}

function answerOf(status: number, body: string, headers: PlaneAnswer['headers'] = {}): PlaneAnswer {
  return { status, headers, body };
}

function problem(
  status: number,
  message: string,
  documentationUrl: string,
  headers?: PlaneAnswer['headers'],
): PlaneAnswer {
  const body = { message, documentation_url: documentationUrl, status: String(status) };
  return answerOf(status, JSON.stringify(body), headers);
}

function originOf({ host = '' }: PlaneRequest['headers']): string {
  return `http://${host}`;
}

function hex(number: number): string {
  return number.toString(16).toUpperCase().padStart(4, '0');
}
