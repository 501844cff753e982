import { badRequest, Refusal } from './refusal.js';

/** The name of a new key, from JSON or a form. */
export function readKeyName(contentType: string | undefined, body: string): string {
  const [mediaType = ''] = (contentType ?? '').toLowerCase().split(';', 1);
  const name = nameIn(mediaType.trim(), body);
  if (name === undefined || name === null) throw badRequest('The field key_name is missing.');
  if (typeof name !== 'string') throw badRequest('The field key_name must be a string.');
  if (name === '') throw badRequest('The field key_name must not be empty.');
  return name;
}

/** The name of a new branch, from JSON. Undefined if the request asks for none. */
export function readBranchName(body: string): string | undefined {
  const branch = body === '' ? undefined : fieldOf(parseJson(body), 'branch');
  const name = branch === undefined ? undefined : fieldOf(branch, 'name');
  if (name === undefined) return undefined;
  if (typeof name !== 'string' || name === '') throw badRequest('The field branch.name must be a name.');
  return name;
}

function nameIn(mediaType: string, body: string): unknown {
  switch (mediaType) {
    case 'application/json':
      return fieldOf(parseJson(body), 'key_name');
    case 'application/x-www-form-urlencoded':
      return new URLSearchParams(body).get('key_name');
    default:
      throw new Refusal(
        415,
        'UNSUPPORTED_MEDIA_TYPE',
        'The body must be application/json or application/x-www-form-urlencoded.',
      );
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw badRequest('The body is not JSON.');
  }
}

function fieldOf(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('The body must be a JSON object.');
  }
  return new Map(Object.entries(value)).get(field);
}
