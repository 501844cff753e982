import { randomUUID } from 'node:crypto';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

// JSON.parse rounds integers beyond 2^53, and ids can be that large. So they become strings with a mark, until they are
// printed. Each process creates its own mark, so no text of the service can contain it. This keeps the native parser: a
// parser in JavaScript takes ten times as long for a large list. The mark is created on first use, because the first
// random number is slow.
let mark: string | undefined;

/**
 * The JSON has so many lists and objects that JSON.parse could run out of memory, or nests them so deeply that
 * JSON.stringify would overflow the stack.
 */
export class NestingTooDeep extends Error {}

export function parseJson(text: string): Json {
  if (text.length > maxOpened && countOpening(text, '[') + countOpening(text, '{') > maxOpened)
    throw new NestingTooDeep();
  const value = JSON.parse(longDigits.test(text) ? markLongIntegers(text) : text) as Json;
  if (isDeeperThan(value, maxDepth)) throw new NestingTooDeep();
  return value;
}

/** The parser keeps about 100 bytes for each open list, so this bounds it to 500 MB. */
const maxOpened = 5_000_000;
/** JSON.stringify recurses for each level: Node 20 fails at about 4,000. A record has few levels. */
const maxDepth = 500;

function countOpening(text: string, sign: '[' | '{'): number {
  let number = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) number++;
  return number;
}

function isDeeperThan(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, depth - 1));
  for (const name in value) if (isDeeperThan(value[name] ?? null, depth - 1)) return true;
  return false;
}

/** A number holds every integer of 15 digits exactly; 2^53 has 16. */
const longDigits = /(?<!\d)\d{16}/;
/** A string, which may contain digits, or an integer of 16 digits and more. Fractions, exponents and names do not count. */
const stringOrLongInteger = /"[^"\\]*(?:\\.[^"\\]*)*"?|(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE]|\s*:)/gs;

function markLongIntegers(text: string): string {
  mark ??= `integer-${randomUUID()}:`;
  let marked = '';
  let copied = 0;
  for (const { 0: token, index } of text.matchAll(stringOrLongInteger)) {
    if (token.startsWith('"') || Number.isSafeInteger(Number(token))) continue;
    marked += `${text.slice(copied, index)}"${mark}${token}"`;
    copied = index + token.length;
  }
  return marked + text.slice(copied);
}

export function printJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent);
  return mark === undefined ? text : text.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

/** A value as text. An integer keeps all its digits. */
export function toText(value: Json): string {
  if (isMarked(value)) return value.slice(mark?.length);
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? printJson(value) : String(value);
}

/** For text that may not be JSON. The error of JSON.parse quotes the text, which can contain a secret. */
export function parseJsonOrUndefined(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The property of a value that may be no object. */
export function getProperty(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Services omit an absent field or send null. */
export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string that is neither empty nor a marked integer. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !isMarked(value);
}

function isMarked(value: unknown): value is string {
  return mark !== undefined && typeof value === 'string' && value.startsWith(mark);
}
