import type { ApiKey } from '../control-plane/index.js';
import { type Operation, stepAt } from '../control-plane/operation.js';
import { parseJson } from './formats.js';
import { output, type ProcessRecord, type Run, type SentRequest, type StepRecord, texts } from './record.js';
import { epoch } from './stage.js';

// Facts of a run as the service knows them. Times are milliseconds of the run.

export type Phase = 'pending' | 'good' | 'bad';

/** Section 4 of the contract. */
export function phaseOf(status: string): Phase {
  if (['finished', 'skipped'].includes(status)) return 'good';
  return ['failed', 'error', 'cancelled'].includes(status) ? 'bad' : 'pending';
}

export function startOf({ createdMicros }: Operation): number {
  return createdMicros / 1_000 - epoch;
}

export function removalOf(operation: Operation): number {
  return startOf(operation) + operation.vanishesAfterMs;
}

export function phaseAt(operation: Operation, time: number): Phase {
  return phaseOf(stepAt(operation, epoch + Math.min(time, removalOf(operation))).status);
}

/** When the operation ends, and how. Some never end. */
export function endOf(operation: Operation): { readonly at: number; readonly phase: Phase } {
  const last = operation.course.find(({ status }) => phaseOf(status) !== 'pending');
  if (last === undefined) return { at: Number.POSITIVE_INFINITY, phase: 'pending' };
  return { at: startOf(operation) + last.afterMs, phase: phaseOf(last.status) };
}

/** Dates lose some digits of a millisecond. */
function timeOf(date: number): number {
  return Math.round((date - epoch) * 100) / 100;
}

export function creationOf({ createdAt }: ApiKey): number {
  return timeOf(createdAt);
}

export function revocationOf({ revokedAt }: ApiKey): number {
  return revokedAt === undefined ? Number.POSITIVE_INFINITY : timeOf(revokedAt);
}

export function isAliveAt(key: ApiKey, time: number): boolean {
  return creationOf(key) <= time + 0.01 && revocationOf(key) > time + 0.01;
}

export function keysOf({ stage }: Run, { main }: StepRecord): ApiKey[] {
  const creates = main.sent.filter(({ method, body }) => method === 'POST' && body !== '');
  const names = new Set(creates.map(({ body }) => JSON.parse(body).key_name));
  return stage.keys().filter(({ name }) => names.has(name));
}

/** Whether somebody else revoked the key: outside of the run, or another step of it. */
export function wasRevokedByAnother({ stage, steps }: Run, step: StepRecord, { id }: ApiKey): boolean {
  const others = steps.filter((other) => other !== step).flatMap(({ main }) => main.sent);
  return stage.revokedByOthers.has(id) || others.some((sent) => idOfDelete(sent) === id);
}

/** The service created the key after its request was given up. */
export function wasCreatedLate(key: ApiKey, { main }: StepRecord): boolean {
  return !main.sent.some(({ method, arrived }) => method === 'POST' && arrived?.at === key.createdAt);
}

/** The JSON of a whole response with a status of success. */
export function bodyOf({ response }: SentRequest): unknown {
  if (response === undefined || response.status < 200 || response.status >= 300) return undefined;
  try {
    return parseJson(response.body);
  } catch {
    return undefined;
  }
}

export function isWholeKeyList(sent: SentRequest): boolean {
  return isKeyList(sent) && sent.response?.headers['link'] === undefined;
}

/** A key that is missing from it may exist. */
export function isIncompleteKeyList(sent: SentRequest): boolean {
  return isKeyList(sent) && sent.response?.headers['link'] !== undefined;
}

function isKeyList(sent: SentRequest): boolean {
  return sent.endpoint === 'list-keys' && sent.response?.status === 200 && Array.isArray(bodyOf(sent));
}

/** An HTML page does not come from the service. */
export function isPage({ response }: SentRequest): boolean {
  return response !== undefined && (/^\s*</.test(response.body) || /html/.test(response.headers['content-type'] ?? ''));
}

/** The service itself rejects the request, and has not carried it out. */
export function isRejection(sent: SentRequest): boolean {
  const status = sent.response?.status ?? 0;
  return status >= 400 && status < 500 && status !== 408 && status !== 425 && !isPage(sent);
}

/** Not a retry: the service or its proxy will say the same again. */
export function isPermanent(sent: SentRequest): boolean {
  const status = sent.response?.status ?? 0;
  const isRedirect = status >= 300 && status < 400;
  const isTooLarge = sent.error?.includes('256 MiB') === true;
  const is4xx = status >= 400 && status < 500 && ![408, 423, 425, 429].includes(status);
  return isRedirect || isTooLarge || is4xx || sent.error?.includes('407') === true;
}

export function ambiguousCreates({ sent }: ProcessRecord): SentRequest[] {
  return sent.filter((one) => one.method === 'POST' && one.mayHaveTakenEffect && !isRejection(one));
}

/** A promise of the contract. */
export const maxAmbiguousCreates = 5;

export function isThrottled({ response }: SentRequest): boolean {
  return response?.status === 423 || response?.status === 429;
}

/** Not what the service itself would have responded, in time. */
export function isFaulty({ fault, response }: SentRequest): boolean {
  return response === undefined || (fault !== undefined && fault !== 'close-on-next-request');
}

export function idOfDelete({ method, path }: SentRequest): string | undefined {
  return method === 'DELETE' ? /\/api_keys\/(\d+)$/.exec(path)?.[1] : undefined;
}

/** The service lied in a way that the contract believes: a 404 after a DELETE whose response was lost, or a 5xx. */
export function isBelievedGone(id: string, sent: readonly SentRequest[]): boolean {
  const deletes = sent.filter((one) => idOfDelete(one) === id);
  const lost = deletes.findIndex(({ response, mayHaveTakenEffect }) =>
    response === undefined ? mayHaveTakenEffect : response.status >= 500,
  );
  return lost >= 0 && deletes.slice(lost + 1).some(({ response }) => response?.status === 404);
}

/** A promise of the contract: the time of all of post. */
export const postTimeout = 20_000;

export function deadlineOf({ plan, main }: StepRecord): number {
  return plan.timeoutMs === 0 ? Number.POSITIVE_INFINITY : main.startedAt + plan.timeoutMs;
}

/** After an operation ends, the step ends within the larger of 500 ms and a quarter of the time waited, and within 5 s. */
export function lagOf({ main, plan }: StepRecord, end: number): number {
  const interval = Number.parseInt(plan.inputs['poll-interval'] ?? '', 10) * 1_000;
  return interval || Math.min(5_000, Math.max(500, (end - main.startedAt) / 4));
}

/** How long new operations may be unlisted: an empty list is believed only then. */
export const graceForUnlisted = 5_000;

/** The problems of the claims that are wrong. */
export function wrong(claims: readonly (readonly [isWrong: boolean, problem: string])[]): string[] {
  return claims.flatMap(([isWrong, problem]) => (isWrong ? [problem] : []));
}

/** Milliseconds of a `Retry-After`. A date counts from the response's own date, because clocks differ. */
export function retryAfterOf({ response }: SentRequest): number | undefined {
  const value = response?.headers['retry-after'];
  if (value === undefined) return undefined;
  return /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.parse(response?.headers['date'] ?? '');
}

/** A 423 or 429 whose `Retry-After` ends after the deadline ends the step at once. */
export function isToldToWaitPast(deadline: number, { sent }: ProcessRecord): boolean {
  return sent.some((one) => isThrottled(one) && (one.endedAt ?? 0) + (retryAfterOf(one) ?? 0) > deadline);
}

export function statusOf(process: ProcessRecord): string {
  return output(process, 'status') ?? 'none';
}

/** Whether a warning or an error names the key. */
export function isReported(process: ProcessRecord, { id, name }: ApiKey): boolean {
  return texts(process, 'warning', 'error').some((text) => text.includes(name) || new RegExp(`\\b${id}\\b`).test(text));
}

/** Whether nothing kept the process from its own end and its messages. */
export function endedByItself({ exit, runnerFailed }: ProcessRecord): boolean {
  return (exit === 0 || exit === 1) && !runnerFailed;
}

/** A warning or an error that says that a key may be alive. */
export function isAlarm(text: string): boolean {
  return /Could not confirm|may still exist|Could not check whether a key still exists/.test(text);
}

export function alarms(process: ProcessRecord): string[] {
  return texts(process, 'warning', 'error').filter(isAlarm);
}
