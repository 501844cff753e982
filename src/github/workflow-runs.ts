import { getOctokit } from '@actions/github';
import { isTransientStatus } from '../http/errors.js';
import { retryAfter } from '../http/retry-after.js';
import { userAgent } from '../http/user-agent.js';
import type { RunSeen, Unseen, WorkflowRuns } from '../modes/keys/run-lookups.js';
import { plain } from '../text/plain.js';

/** The error that octokit throws. It has no `response` if none arrived. */
interface RequestError {
  readonly status: number;
  readonly message: string;
  readonly response?: { readonly headers: Headers; readonly data: unknown };
}

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * octokit uses the API that GITHUB_API_URL names, so GitHub Enterprise works. This is a separate bundle with its own copy
 * of each class. `instanceof` would fail across bundles, so the interface has only plain values.
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
        // The id stays a string. As a number, a long id would be rounded to that of another run.
        const path = `GET /repos/{owner}/{repo}/actions/runs/${id}`;
        const { status, data } = await octokit.request(path, { owner, repo, request: { signal, redirect: 'manual' } });
        // A redirect may lead to something other than this repository in GitHub's API, so it is not followed.
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

/** octokit returns an HTML page or a truncated body as a string. */
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
  // GitHub's rate limit sends 403 or 429. Both mean: try later.
  if (asked !== undefined)
    return unseen(`${words} (its rate limit)`, { status: 429, transient: true, retryAfter: asked });
  return unseen(words, { status, transient: isTransientStatus(status) });
}

/** Milliseconds to wait. `undefined` if the response is not about a rate limit. */
function patienceAsked(headers: Headers, said: string, date: number): number | undefined {
  const isLimit = headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(said);
  if (!isLimit) return undefined;
  const asked = retryAfter(headers, date);
  if (asked !== undefined) return asked;
  // Without a time, GitHub asks for a wait of at least one minute:
  // https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
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
  // octokit's own messages would go to the console.
}
