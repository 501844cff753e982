import type { NotShown } from './not-shown.js';

/** The request cannot be carried out; becomes a 4xx. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export function badRequest(message: string): Refusal {
  return new Refusal(400, 'BAD_REQUEST', message);
}

export function notFound(message: string): Refusal {
  return new Refusal(404, 'NOT_FOUND', message);
}

export function errorBody(
  shape: NotShown['errorBody'],
  error: { readonly code: string; readonly message: string; readonly request_id: string },
): { readonly contentType: string; readonly body: string } {
  if (shape === 'plain' || shape === 'nested') {
    return { contentType: 'application/json', body: JSON.stringify(shape === 'plain' ? error : { error }) };
  }
  return { contentType: 'text/plain; charset=utf-8', body: shape === 'text' ? error.message : '' };
}
