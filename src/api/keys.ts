import type { Answer } from '../http/exchange.js';
import { isAbsent, isObject, isText, type Json, type JsonObject, textOf } from '../text/json.js';
import { announcesMore } from './announces-more.js';
import { Misshapen, misshapen, type Recorded } from './records.js';

/** A key as the service lists it, without its secret. */
export interface Key extends Recorded {
  readonly name: string | undefined;
}

/** The keys of the account, from one response. */
export interface KeyList {
  readonly keys: readonly Key[];
  /** The response announces no more keys. Only a complete list proves that a key is missing. */
  readonly isComplete: boolean;
}

/** A new key. Only the response that creates it contains the secret. */
export interface MintedKey {
  readonly id: string;
  readonly secret: string;
}

export const keyFields = ['id', 'name', 'created_at', 'last_used_at', 'last_used_from_addr'] as const;

/** Accepts only the documented response, because a key that is missing from it counts as gone. */
export function parseKeyList(body: Json, { status, headers }: Answer): KeyList {
  if (status !== 200) throw misshapen('the status of the list of keys', '200', status);
  if (!Array.isArray(body)) throw misshapen('the list of keys', 'an array', body);
  const keys = new Map(body.map((item, index) => keyOf(item, `[${index}]`)).map((key) => [key.id, key]));
  return { keys: [...keys.values()], isComplete: !announcesMore(headers) };
}

function keyOf(value: Json, place: string): Key {
  if (!isObject(value)) throw misshapen(place, 'an object', value);
  // A listed key has no documented `key` field. If it ever has one, outputs must not contain it.
  const { key: _, ...record } = value;
  return { id: idIn(value, place), name: isText(value['name']) ? value['name'] : undefined, record };
}

/** A mask of a shorter secret would hide ordinary text: a key `o` turns every `o` of the job's log into `***`. */
const minSecretLength = 8;
/** The post step gets the secret in one environment variable, which holds at most 128 KiB on Linux. */
const maxSecretLength = 4_096;
const mostDigits = 100;

export function isKeySecret(text: string): boolean {
  return text.length >= minSecretLength && text.length <= maxSecretLength && /^[\x21-\x7e]+$/.test(text);
}

export function isKeyId(text: string): boolean {
  return /^\d+$/.test(text) && text.length <= mostDigits;
}

/** No error quotes the response, because it can contain the secret. */
export function mintedIn(body: Json): MintedKey {
  if (!isObject(body)) throw misshapen('the answer', 'an object', undefined);
  const secret = body['key'];
  // Redaction puts `***` in place of a known secret.
  if (!isText(secret) || !isKeySecret(secret) || secret.includes('***')) throw new Misshapen('`key` is not a new key');
  const id = digitsOf(body['id']);
  if (id === undefined) throw new Misshapen('`id` is not an integer');
  return { id, secret };
}

/** Whether the response to a DELETE explicitly says that the key is revoked. */
export function saysRevoked(body: Json, id: string): boolean {
  if (!isObject(body)) return false;
  // The revocation of another key proves nothing about this one.
  if (!isAbsent(body['id']) && idIn(body, '') !== id) throw misshapen('id', id, body['id']);
  return body['revoked'] === true;
}

function idIn(value: JsonObject, place: string): string {
  const digits = digitsOf(value['id']);
  if (digits === undefined) throw misshapen(place === '' ? 'id' : `${place}.id`, 'an integer', value['id']);
  return digits;
}

function digitsOf(id: Json | undefined): string | undefined {
  const digits = typeof id === 'number' || typeof id === 'string' ? textOf(id) : '';
  return isKeyId(digits) ? digits : undefined;
}
