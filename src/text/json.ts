export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

/** Returns undefined for invalid JSON. An error from JSON.parse would quote the text, which can contain a secret. */
export function parseJsonOrUndefined(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The id as text. Undefined for what is no id, and for a number that JSON.parse may have rounded. */
export function idText(value: Json | undefined): string | undefined {
  return isText(value) || Number.isSafeInteger(value) ? String(value) : undefined;
}

/** For a field without a value, some services send null, and others omit the field. */
export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** False if a field such as `error` says nothing: it is absent, null, false, zero or empty. */
export function hasContent(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a string that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
