import type { HttpResponse } from '../http/exchange.js';
import { hasContent, idText, isAbsent, isObject, isText, type Json } from '../text/json.js';
import { minSecretLength } from '../text/sanitize-line.js';
import { rejectPartialList } from './paging.js';
import { UnexpectedShapeError, unexpectedShape } from './parse-response.js';
import { type ApiRecord, fieldTime } from './records.js';

/** A key as the service lists it, without its secret. */
export interface Key extends ApiRecord {
  readonly name: string | undefined;
  /** The service lists it, but says that it is revoked. */
  readonly isRevoked: boolean;
  /** In milliseconds since 1970, on the service's clock. Undefined if the record has no readable time. */
  readonly createdAt: number | undefined;
}

/** The keys by id, in the order of the service. */
export type KeyList = ReadonlyMap<string, Key>;

export const keyFields: readonly string[] = ['id', 'name', 'created_at', 'last_used_at', 'last_used_from_addr'];

/** Accepts only the documented response, because a key that the response does not contain is treated as gone. */
export function parseKeyList(body: Json, { status, headers }: HttpResponse): KeyList {
  if (status !== 200) throw unexpectedShape('status', '200', status);
  rejectPartialList(body, headers);
  if (!Array.isArray(body)) throw unexpectedShape('body', 'an array', body);
  return new Map(body.map((item, index) => parseKey(item, `[${index}]`)).map((key) => [key.id, key]));
}

function parseKey(value: Json, place: string): Key {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  const id = integerDigits(value['id']);
  if (id === undefined) throw unexpectedShape(`${place}.id`, 'an integer', value['id']);
  // The documented list has no field `key`. Such a field could hold a secret, so outputs never contain it.
  const { key: _, ...record } = value;
  const createdAt = fieldTime({ id, record }, 'created_at');
  const isRevoked = value['revoked'] === true || hasContent(value['revoked_at']);
  return { id, name: isText(value['name']) ? value['name'] : undefined, isRevoked, createdAt, record };
}

/** The runner would obey a text with `::` at its start or with `##[` as a command if a later step printed it. */
const usableSecret = /^(?!::)(?!.*##\[)[\x21-\x7e]+$/;

/** The service sends the secret of a key only in the response that creates it. So no error quotes this response. */
export function parseMintedKey(body: Json) {
  if (!isObject(body)) throw new UnexpectedShapeError('the body is not an object');
  const secret = body['key'];
  if (!isText(secret) || secret.length < minSecretLength || !usableSecret.test(secret))
    throw new UnexpectedShapeError('`key` is not a usable API key');
  const id = integerDigits(body['id']);
  if (id === undefined) throw new UnexpectedShapeError('`id` is not an integer');
  return { id, secret };
}

export function parseRevoked(body: Json, id: string): boolean {
  if (!isObject(body)) return false;
  // The revocation of another key proves nothing about the requested one.
  if (!isAbsent(body['id']) && integerDigits(body['id']) !== id) throw unexpectedShape('id', id, body['id']);
  return body['revoked'] === true;
}

function integerDigits(value: Json | undefined): string | undefined {
  const id = idText(value) ?? '';
  return /^\d{1,100}$/.test(id) ? id : undefined;
}
