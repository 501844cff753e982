import { randomUUID } from 'node:crypto';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

// JSON.parse rounds integers beyond 2^53, and ids may be such. Between parsing and printing they are strings with a mark
// that no text of the service can hold, as it is made anew in each process. That keeps the native parser: a parser in
// JavaScript takes ten times as long for a large list. Made when first needed, as the first random number takes its time.
let mark: string | undefined;

/** JSON that nobody means: the parser or the printer would take all memory, or all of the stack. */
export class TooNested extends Error {}

export function parseJson(text: string): Json {
  if (text.length > mostOpened && opens(text, '[') + opens(text, '{') > mostOpened) throw new TooNested();
  const value = JSON.parse(hasLongInteger(text) ? withMarks(text) : text) as Json;
  if (isDeeper(value, mostDepth)) throw new TooNested();
  return value;
}

/** The parser keeps a hundred bytes for each list that is open. */
const mostOpened = 5_000_000;
/** The printer calls itself for each level; a record has few. */
const mostDepth = 500;

function opens(text: string, sign: '[' | '{'): number {
  let number = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) number++;
  return number;
}

function isDeeper(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, depth - 1));
  for (const name in value) if (isDeeper(value[name] ?? null, depth - 1)) return true;
  return false;
}

const longestSafe = 15;

/** Whether 16 digits follow each other anywhere. Only each sixteenth character need be looked at: one of them is a digit. */
function hasLongInteger(text: string): boolean {
  for (let at = longestSafe; at < text.length; at += longestSafe + 1) {
    if (!isDigit(text, at)) continue;
    let from = at;
    while (isDigit(text, from - 1)) from--;
    let to = at + 1;
    while (isDigit(text, to)) to++;
    if (to - from > longestSafe) return true;
  }
  return false;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/** In one pass: what stands between quotes is no number. */
function withMarks(text: string): string {
  mark ??= `integer-${randomUUID()}:`;
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) === quote) {
      at = endOfString(text, at);
    } else if (isDigit(text, at)) {
      const from = text[at - 1] === '-' ? at - 1 : at;
      while (isDigit(text, at + 1)) at++;
      if (!isLongInteger(text, from, at + 1)) continue;
      marked += `${text.slice(copied, from)}"${mark}${text.slice(from, at + 1)}"`;
      copied = at + 1;
    }
  }
  return marked + text.slice(copied);
}

const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);

function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  return text.length;
}

const notAfter = /[.eE]|\s*:/y;

/** One that a number cannot hold; no part of a fraction or an exponent; and nothing that JSON does not take. */
function isLongInteger(text: string, from: number, to: number): boolean {
  if (to - from <= longestSafe) return false;
  const token = text.slice(from, to);
  if (Number.isSafeInteger(Number(token)) || /^-?0/.test(token)) return false;
  notAfter.lastIndex = to;
  return !/[.eE+-]/.test(text[from - 1] ?? '') && !notAfter.test(text);
}

export function printJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent);
  return mark === undefined ? text : text.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

/** What a record says, as text: an integer with all its digits. */
export function textOf(value: Json): string {
  if (isMarked(value)) return value.slice(mark?.length);
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? printJson(value) : String(value);
}

/** Services leave out what they have not got, or say null. */
export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text that says something: neither empty nor a marked integer. */
export function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '' && !isMarked(value);
}

function isMarked(value: Json | undefined): value is string {
  return mark !== undefined && typeof value === 'string' && value.startsWith(mark);
}
