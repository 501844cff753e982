import type { HttpHeaders, HttpResponse } from '../http/exchange.js';
import { minSecretLength } from '../text/encodings.js';
import { isAbsent, isObject, isText, type Json, type JsonObject, toText } from '../text/json.js';
import { type ApiRecord, UnexpectedShapeError, unexpectedShape } from './records.js';

/** A key as the service lists it, without its secret. */
export interface Key extends ApiRecord {
  readonly name: string | undefined;
}

/** The keys of the account, from one response. */
export interface KeyList {
  readonly keys: readonly Key[];
  /** True if the response does not announce further keys. Only a complete list proves that a key is missing. */
  readonly isComplete: boolean;
}

/** A new key. Only the response that creates it contains the secret. */
export interface MintedKey {
  readonly id: string;
  readonly secret: string;
}

export const keyFields: readonly string[] = ['id', 'name', 'created_at', 'last_used_at', 'last_used_from_addr'];

/** Accepts only the documented response, because a key that is missing from it counts as gone. */
export function parseKeyList(body: Json, { status, headers }: HttpResponse): KeyList {
  if (status !== 200) throw unexpectedShape('status', '200', status);
  if (!Array.isArray(body)) throw unexpectedShape('body', 'an array', body);
  const keys = new Map(body.map((item, index) => parseKey(item, `[${index}]`)).map((key) => [key.id, key]));
  return { keys: [...keys.values()], isComplete: !announcesMore(headers) };
}

function parseKey(value: Json, place: string): Key {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  // A listed key has no documented `key` field. If it ever has one, outputs must not contain it.
  const { key: _, ...record } = value;
  return { id: parseId(value, place), name: isText(value['name']) ? value['name'] : undefined, record };
}

/** The post step gets the secret in one environment variable, which holds at most 128 KiB on Linux. */
const maxSecretLength = 4_096;
const maxDigits = 100;

export function isKeySecret(text: string): boolean {
  return text.length >= minSecretLength && text.length <= maxSecretLength && /^[\x21-\x7e]+$/.test(text);
}

export function isKeyId(text: string): boolean {
  return /^\d+$/.test(text) && text.length <= maxDigits;
}

/** No error quotes the response, because it can contain the secret. */
export function parseMintedKey(body: Json): MintedKey {
  if (!isObject(body)) throw new UnexpectedShapeError('the body is not an object');
  const secret = body['key'];
  // A key that contains `***` was redacted on its way, so it is not the real key.
  if (!isText(secret) || !isKeySecret(secret) || secret.includes('***'))
    throw new UnexpectedShapeError('`key` is not a usable key');
  const id = integerDigits(body['id']);
  if (id === undefined) throw new UnexpectedShapeError('`id` is not an integer');
  return { id, secret };
}

/** Whether the response to a DELETE explicitly says that the key is revoked. */
export function parseRevoked(body: Json, id: string): boolean {
  if (!isObject(body)) return false;
  // The revocation of another key proves nothing about this one.
  if (!isAbsent(body['id']) && parseId(body, '') !== id) throw unexpectedShape('id', id, body['id']);
  return body['revoked'] === true;
}

function parseId(value: JsonObject, place: string): string {
  const digits = integerDigits(value['id']);
  if (digits === undefined) throw unexpectedShape(place === '' ? 'id' : `${place}.id`, 'an integer', value['id']);
  return digits;
}

function integerDigits(id: Json | undefined): string | undefined {
  const digits = typeof id === 'number' || typeof id === 'string' ? toText(id) : '';
  return isKeyId(digits) ? digits : undefined;
}

/** Headers in which services send the cursor or the number of the next page. */
const cursorHeaders = ['x-next-cursor', 'next-cursor', 'x-cursor', 'x-pagination-cursor', 'x-next-page'];

/** Whether the response announces another page. The documented list of keys has no pages, so nothing requests one. */
export function announcesMore(headers: HttpHeaders): boolean {
  const hasCursor = cursorHeaders.some((name) => !['', 'null'].includes(headers[name]?.trim() ?? ''));
  return hasCursor || hasNextLink(headers['link'] ?? '');
}

/** RFC 8288: `<target>; name="value"; name=value, <target>; …`. `rel` is a list of words and not case-sensitive. */
function hasNextLink(link: string): boolean {
  // A target can contain the characters that separate parameters, so it is removed first.
  const parameters = link.replace(/<[^<>]*>/g, '').matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,]*))/g);
  return [...parameters].some(([, name = '', quoted, bare = '']) => {
    const words = (quoted ?? bare).toLowerCase().split(/[\s"']+/);
    return name.toLowerCase() === 'rel' && words.includes('next');
  });
}
