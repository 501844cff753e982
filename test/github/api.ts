import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Clock } from '../control-plane/index.js';
import type { Fault } from './faults.js';
import type { Repository, Run } from './repository.js';

export interface ApiRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ApiOptions {
  readonly token: string;
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
  readonly #token: string;
  readonly #repository: Repository;
  readonly #basePath: string;
  readonly #clock: Clock;
  readonly #hourEnds: number;
  #answered = 0;

  constructor({ token, repository, basePath, clock }: ApiOptions) {
    this.#token = token;
    this.#repository = repository;
    this.#basePath = basePath;
    this.#clock = clock;
    this.#hourEnds = this.#seconds() + 3600;
  }

  answer(request: ApiRequest, fault: Fault | undefined): Answer {
    this.#answered++;
    const { status, headers, body } = damaged(this.#faultAnswer(fault, request) ?? this.#soundAnswer(request), fault);
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    return { status, headers: { ...this.#commonHeaders(), ...headers, ...length }, body };
  }

  #soundAnswer({ method, target, headers }: ApiRequest): Answer {
    if (!headers['user-agent']) return noUserAgent;
    if (!this.#admits(headers.authorization)) return problem(401, 'Bad credentials', docs);
    const asked = this.#find(target);
    if (!asked || method !== 'GET') return problem(404, 'Not Found', docs);
    // Whoever has no right to read the repository shall not learn that it exists.
    if (!asked.run || headers.authorization === undefined) return problem(404, 'Not Found', runDocs);
    return answerOf(200, this.#repository.runJson(asked.run, originOf(headers)));
  }

  /** Without a token at all, one is a stranger, and welcome. */
  #admits(authorization: string | undefined): boolean {
    if (authorization === undefined) return true;
    return /^(?:token|bearer) +(\S+)$/i.exec(authorization)?.[1] === this.#token;
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

  #faultAnswer(fault: Fault | undefined, request: ApiRequest): Answer | undefined {
    switch (fault?.kind) {
      case 'no-permission':
        return problem(403, 'Resource not accessible by integration', runDocs, {
          'x-accepted-github-permissions': 'actions=read',
        });
      case 'rate-limit':
        return problem(fault.status ?? 403, 'API rate limit exceeded for installation ID 1.', rateLimitDocs, {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-used': String(requestsPerHour),
          'x-ratelimit-reset': String(this.#seconds() + (fault.resetInSeconds ?? 3600)),
        });
      case 'secondary-rate-limit':
        return problem(
          fault.status ?? 403,
          'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
          `${rateLimitDocs}#about-secondary-rate-limits`,
          { 'retry-after': String(fault.retryAfterSeconds ?? 60) },
        );
      case 'status': {
        const answer = problem(fault.status, STATUS_CODES[fault.status] ?? 'Unknown', runDocs, fault.headers);
        return fault.body === undefined ? answer : { ...answer, body: fault.body };
      }
      case 'html':
        return answerOf(fault.status ?? 200, fault.body ?? signInPage, { 'content-type': 'text/html; charset=utf-8' });
      case 'redirect': {
        const location = fault.location ?? this.#urlById(request);
        const body = { message: 'Moved Permanently', url: location, documentation_url: docs };
        return answerOf(fault.status ?? 301, JSON.stringify(body), { location });
      }
      default:
        return undefined;
    }
  }

  #urlById({ target, headers }: ApiRequest): string {
    const repository = `${originOf(headers)}${this.#basePath}/repositories/${this.#repository.id}`;
    const asked = this.#find(target);
    return asked ? `${repository}/actions/runs/${asked.runId}` : repository;
  }

  #commonHeaders(): Answer['headers'] {
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
    return Math.floor(this.#clock.now() / 1000);
  }
}

const signInPage = '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n';

/** GitHub asks every client for one, and a client that forgets it works nowhere but in tests. */
const noUserAgent = answerOf(403, 'Request forbidden by administrative rules: it has no User-Agent header.\n', {
  'content-type': 'text/html; charset=utf-8',
});

function answerOf(status: number, body: string, headers: Answer['headers'] = {}): Answer {
  return { status, headers, body };
}

function problem(status: number, message: string, documentationUrl: string, headers?: Answer['headers']): Answer {
  const body = { message, documentation_url: documentationUrl, status: String(status) };
  return answerOf(status, JSON.stringify(body), headers);
}

function damaged(answer: Answer, fault: Fault | undefined): Answer {
  if (fault?.kind === 'bad-json') return { ...answer, body: `${answer.body.slice(0, -1)}<` };
  return fault?.kind === 'empty-body' ? { ...answer, body: '' } : answer;
}

function originOf({ host = '' }: IncomingHttpHeaders): string {
  return `http://${host}`;
}

function hex(number: number): string {
  return number.toString(16).toUpperCase().padStart(4, '0');
}
