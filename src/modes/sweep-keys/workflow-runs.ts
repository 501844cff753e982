import { getOctokit } from '@actions/github';
import type { RequestErrorOptions } from '../../http/errors.js';
import { type HttpHeaders, parseRetryAfter, userAgent } from '../../http/exchange.js';
import { isTransientStatus } from '../../http/retry.js';
import { isObject, type Json } from '../../text/json.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import type { OnCancel } from '../../time/deadline.js';

/** `gone`: GitHub does not find the run. `attempt`: the latest one. */
export type RunState = { readonly attempt: number; readonly isCompleted: boolean } | 'gone';

export type LookupFailure = RequestErrorOptions & { readonly message: string };

export type FindRun = (id: string, onCancel: OnCancel) => Promise<RunState | LookupFailure>;

interface OctokitError {
  readonly status: number;
  readonly message: string;
  readonly response?: { readonly headers: HttpHeaders; readonly data: Json };
}

/** This file is a separate bundle, with its own copy of each class. `instanceof` would fail, so failures are plain values. */
export function workflowRuns(token: string, repository: string, epochMs: () => number): FindRun {
  if (token === '')
    return async () => lookupFailure('was not queried, because github-token is empty', { transient: false });
  // By default, octokit prints its own messages to the console.
  const discard = () => undefined;
  const log = { debug: discard, info: discard, warn: discard, error: discard };
  const octokit = getOctokit(token, { log, userAgent });
  return async (id, onCancel) => {
    const controller = new AbortController();
    onCancel(() => controller.abort());
    const { signal } = controller;
    try {
      // The id is a string, because a long number would be rounded to the id of another run.
      const path = `GET /repos/${repository}/actions/runs/${id}`;
      // A redirect may lead to another repository or server, so octokit does not follow it.
      const { status, data } = await octokit.request(path, { request: { signal, redirect: 'manual' } });
      const unexpected = { status, transient: false };
      return status === 200 ? parseRun(data, id) : lookupFailure(`responded with status ${status}`, unexpected);
    } catch (error) {
      if (error instanceof Error && 'status' in error)
        return toOutcome(error as unknown as OctokitError, epochMs(), (text) => text.replaceAll(token, '***'));
      throw error;
    }
  };
}

/** octokit returns an HTML page or a truncated body as a string. A string is not a run. */
function parseRun(data: Json, id: string): RunState | LookupFailure {
  const { id: found, status, run_attempt: attempt } = isObject(data) ? data : {};
  if (typeof found === 'string' || String(found) !== id || typeof status !== 'string' || typeof attempt !== 'number')
    return lookupFailure('responded with something other than the requested run', { transient: true });
  return { attempt, isCompleted: status === 'completed' };
}

function toOutcome(error: OctokitError, nowMs: number, withoutToken: (text: string) => string) {
  const { status, response } = error;
  const unreachable = `could not be reached (${sanitizeLine(withoutToken(error.message), 100)})`;
  if (response === undefined) return lookupFailure(unreachable, { transient: true });
  const message = isObject(response.data) ? response.data['message'] : undefined;
  if (typeof message !== 'string')
    return lookupFailure(`responded with status ${status} and no message`, { status, transient: true });
  if (status === 404) return 'gone';
  const what = `responded with status ${status}: ${sanitizeLine(withoutToken(message))}`;
  const retryAfterMs = parseRetryAfter(response.headers, nowMs);
  // GitHub may send a 403 for a rate limit:
  // https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
  const isLimit = status === 403 && retryAfterMs !== undefined;
  const transient = isLimit || isTransientStatus(status);
  return lookupFailure(what, { status: isLimit ? 429 : status, transient, retryAfterMs });
}

function lookupFailure(what: string, details: RequestErrorOptions): LookupFailure {
  return { message: `GitHub ${what}`, ...details };
}
