import { minSecretLength } from '../../text/encodings.js';
import { isObject, type Json } from '../../text/json.js';

const nameOfSecret = /password|secret|token|key|uri/i;

/** All long strings in or below fields whose name says that they hold a secret. */
export function secretsIn(body: Json): string[] {
  const found = new Set<string>();
  // A body can be nested more deeply than functions can.
  const left: { readonly value: Json; readonly isSecret: boolean }[] = [{ value: body, isSecret: false }];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const { value, isSecret } = one;
    if (Array.isArray(value)) for (const item of value) left.push({ value: item, isSecret });
    else if (isObject(value))
      for (const [name, item] of Object.entries(value))
        left.push({ value: item, isSecret: isSecret || nameOfSecret.test(name) });
    else if (isSecret && typeof value === 'string' && value.length >= minSecretLength) found.add(value);
  }
  return [...found];
}
