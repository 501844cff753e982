import type { Fault, FaultRule } from './faults.js';
import { type Endpoint, endpoints } from './routes.js';

const whats =
  `hang, hang-mid-body, cut, cut-mid-body, reset, delay=MS, drip=MS, bad-json, empty-body, html, redirect=URL,
             endless-body, partial-list, close-on-next-request, not-done, done-later=MS`.replaceAll(/\s+/g, ' ');

/** A rule as it is written on a command line; throws an Error that says what is wrong with it. */
export function parseFault(text: string): FaultRule {
  const [, endpoint, when, what] = /^([^:]*):([^:]*):(.+)$/.exec(text) ?? [];
  if (endpoint === undefined || when === undefined || what === undefined)
    throw wrong(text, 'expected ENDPOINT:WHEN:WHAT, as in get-operation:3:503');
  if (!isEndpoint(endpoint)) throw wrong(text, `'${endpoint}' is none of ${endpoints.join(', ')} and any`);
  const occasion = parseWhen(when);
  if (!occasion) throw wrong(text, `'${when}' is not of the form 3, 3+, 2-4, * or 10%`);
  const [, word = '', value] = /^([^=]*)(?:=(.*))?$/.exec(what) ?? [];
  const fault = parseWhat(word, value);
  if (!fault) throw wrong(text, `'${what}' is neither a status nor one of ${whats}`);
  return { endpoint, ...occasion, fault };
}

function wrong(text: string, why: string): Error {
  return new Error(`'${text}' is not a rule for a fault: ${why}.`);
}

function isEndpoint(word: string): word is Endpoint | 'any' {
  return [...endpoints, 'any'].includes(word);
}

function parseWhen(text: string): Pick<FaultRule, 'from' | 'count' | 'nth' | 'probability'> | undefined {
  if (text === '*') return {};
  const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? [];
  if (percent !== undefined) return { probability: Number(percent) / 100 };
  const [, first, dash, last] = /^([1-9]\d*)(?:\+|(-)([1-9]\d*))?$/.exec(text) ?? [];
  if (first === undefined) return undefined;
  if (text.endsWith('+')) return { from: Number(first) };
  if (dash === undefined) return { nth: Number(first) };
  const count = Number(last) - Number(first) + 1;
  return count > 0 ? { from: Number(first), count } : undefined;
}

function parseWhat(word: string, value: string | undefined): Fault | undefined {
  const number = value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
  if (/^[2-5]\d\d$/.test(word)) {
    if (value === undefined) return { kind: 'status', status: Number(word) };
    return number === undefined ? undefined : { kind: 'status', status: Number(word), retryAfter: { seconds: number } };
  }
  if (word === 'redirect') return value ? { kind: 'redirect', location: value } : undefined;
  if (value === undefined) return bareFaults.get(word);
  return number === undefined ? undefined : numberedFaults.get(word)?.(number);
}

const numberedFaults: ReadonlyMap<string, (number: number) => Fault> = new Map([
  ['delay', (ms: number): Fault => ({ kind: 'delay', ms })],
  ['drip', (intervalMs: number): Fault => ({ kind: 'drip', intervalMs })],
  ['done-later', (ms: number): Fault => ({ kind: 'cut-before-headers', done: { msAfterGivenUp: ms } })],
]);

const bareFaults: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['hang', { kind: 'hang-before-headers' }],
  ['hang-mid-body', { kind: 'hang-mid-body' }],
  ['cut', { kind: 'cut-before-headers' }],
  ['cut-mid-body', { kind: 'cut-mid-body' }],
  ['reset', { kind: 'cut-before-headers', by: 'reset' }],
  ['not-done', { kind: 'cut-before-headers', done: 'never' }],
  ['bad-json', { kind: 'bad-json' }],
  ['empty-body', { kind: 'empty-body' }],
  ['html', { kind: 'html' }],
  ['partial-list', { kind: 'partial-list', announcedBy: 'link' }],
  ['endless-body', { kind: 'endless-body' }],
  ['close-on-next-request', { kind: 'close-on-next-request' }],
]);
