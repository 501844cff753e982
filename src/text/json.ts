import { randomUUID } from 'node:crypto';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

// JSON.parse rounds integers beyond 2^53, and ids can be that large. So `parseJson` turns a large integer into a string
// with a mark, and `printJson` prints the string as an integer again. The mark is random, so no text from the service
// contains it. It is created on first use, because the first random number of a process is slow. A JSON parser written
// in JavaScript would be ten times slower.
let mark: string | undefined;

/** The JSON has too many arrays and objects to fit in memory, or too many levels for JSON.stringify's stack. */
export class NestingTooDeep extends Error {}

export function parseJson(text: string): Json {
  return JSON.parse(markLongIntegers(text)) as Json;
}

/** JSON.parse needs about 100 bytes for each array or object. This maximum limits memory use to 500 MB. */
const maxOpened = 5_000_000;
/** JSON.stringify recurses for each level, and fails at about 4,000 levels in Node 20. Records have only a few levels. */
const maxDepth = 500;
/**
 * An integer of 16 or more digits, without fraction or exponent: JavaScript numbers represent all shorter ones exactly. Digits
 * before a colon do not match: they are an invalid field name, and the added quotes would make it valid.
 */
const longInteger = /(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE]|\s*:)/y;

/** Also checks the depth, because a walk through the parsed values would take longer than the parser. */
function markLongIntegers(text: string): string {
  let depth = 0;
  let opened = 0;
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') at = endOfString(text, at);
    else if (sign === ']' || sign === '}') depth--;
    else if (sign === '[' || sign === '{') {
      if (++depth > maxDepth || ++opened > maxOpened) throw new NestingTooDeep();
    } else if (isDigit(sign)) {
      const start = text[at - 1] === '-' ? at - 1 : at;
      while (isDigit(text[at + 1])) at++;
      if (at - start < 15) continue;
      longInteger.lastIndex = start;
      const [integer] = longInteger.exec(text) ?? [];
      if (integer === undefined || Number.isSafeInteger(Number(integer))) continue;
      mark ??= `integer-${randomUUID()}:`;
      marked += `${text.slice(copied, start)}"${mark}${integer}"`;
      copied = at + 1;
    }
  }
  return marked + text.slice(copied);
}

function isDigit(sign = ''): boolean {
  return sign >= '0' && sign <= '9';
}

/** Finds the closing quote. A search for quotes is four times as fast as a look at each character. */
function endOfString(text: string, start: number): number {
  let end = start;
  let backslashes: number;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
  } while (backslashes % 2 === 1);
  return end;
}

export function printJson(value: unknown): string {
  const text = JSON.stringify(value);
  return mark === undefined ? text : text.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

/** The text of a value. An integer beyond 2^53 keeps all its digits. */
export function toText(value: Json): string {
  if (isMarked(value)) return value.slice(mark?.length);
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? printJson(value) : String(value);
}

/** Returns undefined for invalid JSON. An error from JSON.parse would quote the text, which can contain a secret. */
export function parseJsonOrUndefined(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** For a field without a value, some services send null, and others omit the field. */
export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** False if a field such as `error` says nothing: it is absent, null, false, zero or empty. */
export function hasContent(value: Json | undefined): boolean {
  return !isAbsent(value) && !['', 'null', 'false', '0', '{}', '[]'].includes(toText(value).trim());
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a non-empty string. False for an integer beyond 2^53, although it is stored as a string. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !isMarked(value);
}

function isMarked(value: unknown): value is string {
  return mark !== undefined && typeof value === 'string' && value.startsWith(mark);
}
