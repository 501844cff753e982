import { getOctokit } from '@actions/github';
import { isTransientStatus } from '../http/errors.js';
import { retryAfter } from '../http/retry-after.js';
import { userAgent } from '../http/user-agent.js';
import type { RunSeen, Unseen, WorkflowRuns } from '../modes/keys/run-lookups.js';
import { plain } from '../text/plain.js';

/** What octokit throws: without a `response` where none came. */
interface RequestError {
  readonly status: number;
  readonly message: string;
  readonly response?: { readonly headers: Headers; readonly data: unknown };
}

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Through the API that GITHUB_API_URL names, so that GitHub Enterprise works. A bundle of its own: it gives and takes plain
 * values, as a class would be another one on the other side.
 */
export function workflowRuns(token: string, repository: string, date: () => number): WorkflowRuns {
  if (token === '')
    return { look: async () => unseen('was not asked, as github-token is empty', { transient: false }) };
  const [owner = '', repo = ''] = repository.split('/');
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const octokit = getOctokit(token, { log, userAgent });
  return {
    async look(id, onStop) {
      const controller = new AbortController();
      onStop(() => controller.abort());
      const { signal } = controller;
      try {
        // The id as it came: as a number, a long one would be that of another run.
        const path = `GET /repos/{owner}/{repo}/actions/runs/${id}`;
        const { status, data } = await octokit.request(path, { owner, repo, request: { signal, redirect: 'manual' } });
        // Another place that it names is not that of GitHub's API for this repository.
        if (status !== 200) return unseen(`answered with status ${status}`, { status, transient: false });
        return runIn(data, id);
      } catch (error) {
        if (error instanceof Error && 'status' in error)
          return outcomeOf(error as unknown as RequestError, date(), (text) => text.replaceAll(token, '***'));
        throw error;
      }
    },
  };
}

/** octokit gives a page, or a body that was cut, as a text. */
function runIn(data: unknown, id: string): { run: RunSeen } | { unseen: Unseen } {
  const { id: found, status, run_attempt: attempt } = fieldsOf(data);
  if (typeof found === 'string' || String(found) !== id || typeof status !== 'string')
    return unseen('answered with something that is not the run that was asked for', { transient: true });
  return { run: { attempt: typeof attempt === 'number' ? attempt : undefined, isCompleted: status === 'completed' } };
}

function outcomeOf(
  error: RequestError,
  date: number,
  withoutToken: (text: string) => string,
): { run: 'gone' } | { unseen: Unseen } {
  const { status, message, response } = error;
  if (response === undefined)
    return unseen(`could not be reached (${plain(withoutToken(message), 100)})`, { transient: true });
  const { message: said } = fieldsOf(response.data);
  if (typeof said !== 'string') {
    const page = typeof response.data === 'string' ? ' and a page' : '';
    return unseen(`answered with status ${status}${page}`, { status, transient: true });
  }
  if (status === 404) return { run: 'gone' };
  const words = `answered with status ${status}: ${plain(withoutToken(said))}`;
  const asked = patienceAsked(response.headers, said, date);
  // GitHub's rate limit says 403 as well as 429, and asks for patience with both.
  if (asked !== undefined)
    return unseen(`${words} (its rate limit)`, { status: 429, transient: true, retryAfter: asked });
  return unseen(words, { status, transient: isTransientStatus(status) });
}

/** Milliseconds, where the answer is that of a rate limit. */
function patienceAsked(headers: Headers, said: string, date: number): number | undefined {
  const isLimit = headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(said);
  if (!isLimit) return undefined;
  const asked = retryAfter(headers, date);
  if (asked !== undefined) return asked;
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN) * 1_000;
  return Number.isNaN(reset) ? 60_000 : Math.max(0, reset - date);
}

function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
}

function unseen(what: string, particulars: Omit<Unseen, 'message'>): { unseen: Unseen } {
  return { unseen: { message: `GitHub ${what}`, ...particulars } };
}

function nothing(): void {
  // octokit's own words would go to the console.
}
