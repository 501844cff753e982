import type { InputReader } from '../../action/inputs/input-reader.js';
import { oneOfParser, parseAge, parseBoolean, parseSecret } from '../../action/inputs/input-values.js';
import { codeHtml, truncatedTable } from '../../action/markdown.js';
import type { StepReport } from '../../action/step-report.js';
import { RequestError } from '../../http/errors.js';
import { proxyProblem } from '../../http/proxy.js';
import { Rate } from '../../http/rate.js';
import { type Attempt, usualPatience, withRetries } from '../../http/retry.js';
import { currentRun, type KeyOrigin, parseKeyName, type WorkflowRun } from '../../keys/key-name.js';
import { type Revocations, revokeKeys } from '../../keys/revocation.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural, sentences } from '../../text/sentences.js';
import { CancelledError, DeadlineExceeded } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import { keyCells, keyHeadings, revocationFailure, revocationReport } from '../keys-report.js';
import { type Collaborators, define, type ReportFacts, type Services } from '../mode.js';
import type { FindRun, RunState } from './workflow-runs.js';

/** A workflow run may last 35 days. */
const longestRun = 35 * 86_400_000;
/** GitHub may not know a new run yet, so only older keys of an unknown run are revoked. */
const leastAgeOfUnknown = 86_400_000;

type Settings = ReturnType<typeof read>;
type Result = Awaited<ReturnType<typeof run>>;

/** octokit is in a separate bundle, because it is large and only one mode needs it. */
export async function loadWorkflowRuns(): Promise<typeof import('./workflow-runs.js').workflowRuns> {
  const problem = proxyProblem(new URL(process.env['GITHUB_API_URL'] || 'https://api.github.com'));
  if (problem === undefined) return (await import('./workflow-runs.js')).workflowRuns;
  // octokit would ignore an invalid proxy variable, or print the password that the variable contains.
  return () => async () => ({ message: `no request was sent to GitHub, because ${problem}`, transient: false });
}

function read(reader: InputReader) {
  return reader.complete({
    run: currentRun(reader.environment),
    olderThan: reader.optional('older-than', parseAge) ?? longestRun,
    dryRun: reader.parse('dry-run', parseBoolean),
    failOnMatch: reader.optional('fail-on', oneOfParser(['match'])) === 'match',
    repository: reader.environment['GITHUB_REPOSITORY'] ?? '',
    githubToken: reader.parse('github-token', parseSecret),
  });
}

async function run(settings: Settings, collaborators: Collaborators, services: Services) {
  const find = await services.workflowRuns(settings.githubToken, settings.repository);
  const { api, deadline } = collaborators;
  const { clock } = deadline;
  const send = withRetries(collaborators);
  const listed = await api.keys(send);
  // One of the clocks may be wrong. By the smaller age, no young key seems old.
  const now = Math.min(api.serviceEpochMs(clock), clock.epochMs());
  const ours = listed.flatMap((key) => {
    const origin = parseKeyName(key.name ?? '');
    const isOurs = origin?.run.fingerprint === settings.run.fingerprint;
    return isOurs ? [{ key, ...origin, age: now - (key.createdAt ?? now) }] : [];
  });
  const asked = new Set(ours.filter(({ isKept }) => !isKept).map(({ run }) => run.id));
  const { states, failures } = await findRuns([...asked], settings.run, find, collaborators);
  const decisions = ours.map((one) => ({ ...one, ...decide(one, states.get(one.run.id), settings) }));
  const ids = decisions.filter(({ result }) => result === 'to-revoke').map(({ key }) => key.id);
  const task = { ...collaborators, send, patience: usualPatience, find: () => ids, count: 0 };
  const none: Revocations = { keys: [], end: deadline.cancellation.isCancelled ? new CancelledError() : undefined };
  return { decisions, failures, revocation: settings.dryRun || ids.length === 0 ? none : await revokeKeys(task) };
}

/**
 * Asks GitHub once for each run, and returns the state of each that could be read, and why others could not. A run that it does
 * not know counts only if the token can read the current run.
 */
export async function findRuns(ids: readonly string[], own: WorkflowRun, find: FindRun, collaborators: Collaborators) {
  const { deadline, random } = collaborators;
  const send = withRetries(collaborators);
  // GitHub has limits of its own.
  const rate = new Rate(deadline.clock, random);
  const failures = new Set<string>();
  const states = new Map<string, RunState>();

  async function request(id: string, { patience }: Attempt): Promise<RunState> {
    const outcome = await deadline.raceFor(patience, (onCancel) => find(id, onCancel));
    const late = `GitHub did not respond within ${formatDuration(patience)}`;
    if (outcome === undefined) throw new RequestError(late, { transient: true, isSilence: true });
    if (outcome === 'gone' || 'isCompleted' in outcome) return outcome;
    throw new RequestError(outcome.message, outcome);
  }

  async function lookUp(id: string): Promise<void> {
    try {
      states.set(id, await send((attempt) => rate.run(deadline, () => request(id, attempt))));
    } catch (error) {
      // A sweep that is cancelled reports what it knows.
      if (error instanceof CancelledError) return;
      if (!(error instanceof RequestError || error instanceof DeadlineExceeded)) throw error;
      failures.add(error.message);
    }
  }

  const others = ids.filter((id) => id !== own.id);
  if (others.length > 0) await lookUp(own.id);
  if (states.get(own.id) === 'gone') failures.add('GitHub does not show the current run');
  if (failures.size === 0) await Promise.all(others.map(lookUp));
  return { states: states.set(own.id, { attempt: own.attempt, isCompleted: false }), failures };
}

/** The most important rows come first, because a long table is cut. */
const signs = {
  unknown: '❌ not confirmed',
  unread: '❓ left',
  'on-purpose': '📌 kept on purpose',
  'to-revoke': '🧹 would be revoked',
  revoked: '✅ revoked',
  'not-found': '✅ not found any more',
  kept: '⏳ kept',
};
const order = Object.keys(signs);

/** `unread`: the key is left, because the state of its run is unknown. */
type Decision = { readonly result: keyof typeof signs; readonly why: string };

function decide(
  { run, isKept, age }: KeyOrigin & { readonly age: number },
  state: RunState | undefined,
  { olderThan }: Settings,
): Decision {
  const byAge = (limit: number, younger: 'kept' | 'unread', what: string): Decision => {
    const why = `${what}; the key ${age > limit ? 'is' : 'is not'} older than ${formatDuration(limit)}`;
    return { result: age > limit ? 'to-revoke' : younger, why };
  };
  if (isKept) return { result: 'on-purpose', why: 'revoke-in-post: false' };
  if (state === 'gone') return byAge(leastAgeOfUnknown, 'kept', 'GitHub does not know its run');
  if (state === undefined || state.attempt < run.attempt)
    return byAge(olderThan, 'unread', 'its run could not be read');
  const { attempt, isCompleted } = state;
  if (attempt > run.attempt)
    return { result: 'to-revoke', why: `its run was attempted again (now attempt ${attempt})` };
  if (isCompleted) return { result: 'to-revoke', why: 'its run has completed' };
  return { result: 'kept', why: 'its run has not completed' };
}

function report(found: Result, { dryRun, failOnMatch }: Settings, { timeout, nowMs }: ReportFacts): StepReport {
  const { revocation, failures } = found;
  const fates = new Map(revocation.keys.map(({ id, fate }) => [id, fate]));
  const rows = found.decisions.map((one) => ({ ...one, result: fates.get(one.key.id) ?? one.result }));
  const those = (...results: (keyof typeof signs)[]) => rows.filter(({ result }) => results.includes(result));
  const idsOf = (some: typeof rows) => some.map(({ key }) => key.id);
  const namesOf = (some: typeof rows) => {
    const names = some.map(({ key }) => `${key.id} (${sanitizeLine(key.name ?? '', 80)})`);
    return joinFirst(names, messageBounds);
  };
  const revoked = idsOf(those('revoked', 'to-revoke'));
  const kept = idsOf(those('unknown', 'unread', 'on-purpose', 'kept'));
  const over = those('revoked', 'to-revoke', 'not-found', 'unknown');
  const left = those('unread');
  const reasons = joinFirst([...failures], messageBounds) || 'GitHub shows only an earlier attempt';
  const why = sentences(`Could not read the state of workflow runs: ${reasons}`);
  const unread = `${why} So ${plural(left.length, 'key')} may still be valid: ${namesOf(left)}. Give the job the permission actions: read, check that github-token belongs to this repository, or run the sweep again later.`;
  const match = `${plural(over.length, 'key')} of jobs that are over had to be revoked: ${namesOf(over)}. With fail-on: match, this fails the step. Check why the post steps of these jobs did not revoke them.`;
  const failure = revocationFailure(revocation, timeout);
  const status = failure?.status ?? (left.length > 0 ? 'error' : failOnMatch && over.length > 0 ? 'match' : 'ok');
  const errors: Record<string, string> = { error: sentences(failure?.error ?? '', left.length > 0 && unread), match };
  const counts = `${revoked.length} ${dryRun ? 'would be revoked' : 'revoked'}, ${kept.length} kept`;
  const sorted = rows.toSorted((one, other) => order.indexOf(one.result) - order.indexOf(other.result));
  return {
    ...revocationReport(status, counts, revoked, kept),
    succeeded: status === 'ok',
    error: errors[status],
    warnings: failures.size > 0 && left.length === 0 ? [why] : [],
    resultFields: {
      dry_run: dryRun,
      decisions: rows.map(({ key, run, result, why }) => ({ result, why, run, record: key.record })),
    },
    details: truncatedTable(['Result', ...keyHeadings, 'Run', 'Reason'], sorted, ({ result, key, run, why }) => [
      signs[result],
      ...keyCells(key, nowMs),
      codeHtml(run.id),
      why,
    ]),
  };
}

export const sweepKeysMode = define({ read, run, report });
