import { randomUUID } from 'node:crypto';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

// JSON.parse rounds integers beyond 2^53, and ids may be such. Between parsing and printing they are strings with a mark
// that no text of the service can hold, as it is made anew in each process. That keeps the native parser: a parser in
// JavaScript takes ten times as long for a large list. Made when first needed, as the first random number takes its time.
let mark: string | undefined;
const stringOrLongInteger = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

export function parseJson(text: string): Json {
  // Parsed first as it is: only in valid JSON does every string end, so that the search takes linear time.
  const value = JSON.parse(text) as Json;
  return /\d{16}/.test(text) ? (JSON.parse(text.replace(stringOrLongInteger, markUnsafe)) as Json) : value;
}

function markUnsafe(token: string): string {
  if (token.startsWith('"') || Number.isSafeInteger(Number(token))) return token;
  mark ??= `integer-${randomUUID()}:`;
  return `"${mark}${token}"`;
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
