import type { Fault, FaultRule } from './faults.js';
import { type Endpoint, endpoints } from './routes.js';

export const faultNotation = `ENDPOINT:WHEN:WHAT
  ENDPOINT   ${endpoints.join(', ')} or any
  WHEN       3 (the third), 3+ (from the third on), 2-4, * (each) or 10% (by chance)
  WHAT       a status, 429=5 with Retry-After: 5, or one of
             hang, hang-mid-body, cut, cut-mid-body, reset, delay=MS, drip=MS, bad-json, empty-body,
             html, redirect=URL, endless-body, close-on-next-request,
             not-done (the connection is lost before the request is carried out),
             done-later=MS (it is carried out so long after the connection was lost)`;

/** A rule as it is written on a command line; throws an Error that says what is wrong with it. */
export function parseFault(text: string): FaultRule {
  const [, endpoint = '', when = '', what = ''] = /^([^:]*):([^:]*):(.+)$/.exec(text) ?? [];
  const [, word = '', value] = /^([^=]*)(?:=(.*))?$/.exec(what) ?? [];
  const fault = parseWhat(word, value);
  const occasion = parseWhen(when);
  if (!isEndpoint(endpoint) || !occasion || !fault)
    throw new Error(`'${text}' is no fault; wanted is ${faultNotation}`);
  return { endpoint, ...occasion, fault };
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
  if (number !== undefined) return numberedFault(word, number);
  return value === undefined ? bareFaults.get(word) : undefined;
}

function numberedFault(word: string, number: number): Fault | undefined {
  switch (word) {
    case 'delay':
      return { kind: 'delay', ms: number };
    case 'drip':
      return { kind: 'drip', intervalMs: number };
    case 'done-later':
      return { kind: 'cut-before-headers', done: { msAfterGivenUp: number } };
    default:
      return undefined;
  }
}

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
  ['endless-body', { kind: 'endless-body' }],
  ['close-on-next-request', { kind: 'close-on-next-request' }],
]);
