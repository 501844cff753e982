import type { ApiKey } from '../control-plane/index.js';
import { type Operation, stepAt } from '../control-plane/operation.js';
import { type ProcessRecord, type Run, type Sent, type StepRecord, said } from './record.js';
import { retryAfterOf } from './retry-after.js';
import { epoch } from './stage.js';

/** What is so, as the service itself knows it. Times are milliseconds of the run, as everywhere. */

export type Phase = 'pending' | 'good' | 'bad';

/** As section 4 of the contract sorts the words. */
export function phaseOf(status: string): Phase {
  if (['finished', 'skipped'].includes(status)) return 'good';
  return ['failed', 'error', 'cancelled'].includes(status) ? 'bad' : 'pending';
}

export function madeAt({ createdMicros }: Operation): number {
  return createdMicros / 1_000 - epoch;
}

export function goneAt(operation: Operation): number {
  return madeAt(operation) + operation.vanishesAfterMs;
}

/** What the service would have said of it at that time, had it been asked. */
export function phaseAt(operation: Operation, time: number): Phase {
  return phaseOf(stepAt(operation, epoch + Math.min(time, goneAt(operation))).status);
}

/** When it ends, and how; never, where its last word is none. */
export function endOf(operation: Operation): { readonly at: number; readonly phase: Phase } {
  const last = operation.course.find(({ status }) => phaseOf(status) !== 'pending');
  if (last === undefined) return { at: Number.POSITIVE_INFINITY, phase: 'pending' };
  return { at: madeAt(operation) + last.afterMs, phase: phaseOf(last.status) };
}

/** Dates lose some digits of a millisecond. */
function timeOf(date: number): number {
  return Math.round((date - epoch) * 100) / 100;
}

export function bornAt({ createdAt }: ApiKey): number {
  return timeOf(createdAt);
}

export function diedAt({ revokedAt }: ApiKey): number {
  return revokedAt === undefined ? Number.POSITIVE_INFINITY : timeOf(revokedAt);
}

export function isAliveAt(key: ApiKey, time: number): boolean {
  return bornAt(key) <= time + 0.01 && diedAt(key) > time + 0.01;
}

/** The names that a step asked for. */
export function namesOf({ main }: StepRecord): Set<string> {
  const names = main.sent.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body).key_name);
  return new Set(names as string[]);
}

export function keysOf({ stage }: Run, step: StepRecord): ApiKey[] {
  const names = namesOf(step);
  return stage.keys().filter(({ name }) => names.has(name));
}

/** A key that came into being when its request had long been given up. */
export function wasLate(key: ApiKey, { main }: StepRecord): boolean {
  return !main.sent.some(
    ({ method, arrived }) => method === 'POST' && arrived !== undefined && arrived.at === key.createdAt,
  );
}

/** The JSON of a whole answer that says yes. */
export function bodyOf({ answer }: Sent): unknown {
  if (answer === undefined || answer.status < 200 || answer.status >= 300) return undefined;
  try {
    return JSON.parse(answer.body);
  } catch {
    return undefined;
  }
}

/** A whole list of keys. */
export function isKeyList(sent: Sent): boolean {
  return isListOfKeys(sent) && !announcesMore(sent);
}

/** A list of keys that is no proof of what is missing from it. */
export function isIncompleteKeyList(sent: Sent): boolean {
  return isListOfKeys(sent) && announcesMore(sent);
}

function isListOfKeys(sent: Sent): boolean {
  return sent.endpoint === 'list-keys' && sent.answer?.status === 200 && Array.isArray(bodyOf(sent));
}

function announcesMore({ answer }: Sent): boolean {
  return answer?.headers['link'] !== undefined;
}

/** A page in place of an answer is not the service's. */
export function isPage({ answer }: Sent): boolean {
  return answer !== undefined && (/^\s*</.test(answer.body) || /html/.test(answer.headers['content-type'] ?? ''));
}

/** The service itself says no, and has done nothing. */
export function isRefusal(sent: Sent): boolean {
  const status = sent.answer?.status ?? 0;
  return status >= 400 && status < 500 && status !== 408 && status !== 425 && !isPage(sent);
}

/** Creates that may have taken effect. */
export function ambiguousCreates({ sent }: ProcessRecord): Sent[] {
  return sent.filter((one) => one.method === 'POST' && one.mayBeDone && !isRefusal(one));
}

export const maxAmbiguousCreates = 5;

export function asksForPatience({ answer }: Sent): boolean {
  return answer?.status === 423 || answer?.status === 429;
}

/** Not what the service would have said by itself, in time. */
export function wasFaulty({ fault, answer }: Sent): boolean {
  return answer === undefined || (fault !== undefined && fault !== 'close-on-next-request');
}

export function idOfDelete({ method, path }: Sent): string | undefined {
  return method === 'DELETE' ? /\/api_keys\/(\d+)$/.exec(path)?.[1] : undefined;
}

/** The service lied in a way that the contract believes: a 404 on a DELETE after one whose answer was lost, or a 5xx. */
export function wasSaidToBeGone(id: string, sent: readonly Sent[]): boolean {
  const tries = sent.filter((one) => idOfDelete(one) === id);
  const lost = tries.findIndex(({ answer, mayBeDone }) => (answer === undefined ? mayBeDone : answer.status >= 500));
  return lost >= 0 && tries.slice(lost + 1).some(({ answer }) => answer?.status === 404);
}

export function deadlineOf({ plan, main }: StepRecord): number {
  return plan.timeoutMs === 0 ? Number.POSITIVE_INFINITY : main.startedAt + plan.timeoutMs;
}

/** Whether the service asked for more patience than there was time. */
export function wasPutOff(process: ProcessRecord, deadline: number): boolean {
  return process.sent.some(
    (sent) => asksForPatience(sent) && (sent.endedAt ?? 0) + (retryAfterOf(sent) ?? 0) > deadline,
  );
}

export function statusWord({ words }: ProcessRecord): string | undefined {
  return words.findLast(({ kind, name }) => kind === 'output' && name === 'status')?.text;
}

export function isTold(process: ProcessRecord, key: ApiKey): boolean {
  return said(process, 'warning', 'error').some(
    ({ text }) => text.includes(key.name) || new RegExp(`\\b${key.id}\\b`).test(text),
  );
}

/** Whether the process came to its own end, and could tell it. */
export function endedFreely({ exit, runnerFailed }: ProcessRecord): boolean {
  return (exit === 0 || exit === 1) && !runnerFailed;
}
