import type { HttpResponse } from '../http/exchange.js';
import { hasContent, isObject, type Json, toText } from '../text/json.js';
import { sanitizeLine } from '../text/sanitize-line.js';

/** Reads the required fields of a body. Throws `UnexpectedShapeError` if a required field is missing or invalid. */
export type Decode<T> = (body: Json, response: HttpResponse) => T;

/** A required field is missing or has an unexpected value. The message names the field. */
export class UnexpectedShapeError extends Error {}

export function unexpectedShape(place: string, expected: string, value: Json | undefined): UnexpectedShapeError {
  const got =
    value === undefined
      ? 'missing'
      : sanitizeLine(Array.isArray(value) ? 'an array' : isObject(value) ? 'an object' : toText(value), 60);
  return new UnexpectedShapeError(`\`${place}\` should be ${expected}, but is ${got || 'empty'}`);
}

/** Some services send a 200 with an `error` if they fail inside. */
export function hasError(body: Json): boolean {
  return isObject(body) && hasContent(body['error']);
}
