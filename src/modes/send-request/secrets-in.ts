import { minSecretLength } from '../../text/encodings.js';
import { isObject, type Json } from '../../text/json.js';

const nameOfSecret = /password|secret|token|key|uri/i;

/** All long strings in or below fields whose name says that they hold a secret. */
export function secretsIn(value: Json, isSecret = false): string[] {
  if (typeof value === 'string') return isSecret && value.length >= minSecretLength ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((item) => secretsIn(item, isSecret));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => secretsIn(item, isSecret || nameOfSecret.test(name)));
}
