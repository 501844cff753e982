import type { HttpResponse } from '../http/exchange.js';
import { secretEncodings } from '../text/encodings.js';
import { parseJson, printJson } from '../text/json.js';

/**
 * Removes the secret from a response that echoes it, before other code sees it. A shortened message could hold a part of
 * the secret, which no mask matches.
 */
export function redactResponse(response: HttpResponse, secret: string): HttpResponse {
  const encodings = secretEncodings(secret);
  const redact = (text: string) => encodings.reduce((rest, form) => rest.replaceAll(form, '***'), text);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    // Node has an array for `set-cookie`. Nothing needs it.
    if (typeof value === 'string') headers[name] = redact(value);
  }
  return { ...response, headers, body: redactBody(response.body, redact) };
}

/** JSON can escape any character. After parsing and printing, the secret appears in its plain form. */
function redactBody(body: string, redact: (text: string) => string): string {
  if (!body.includes('\\') || !/\\(\/|u00[2-7])/i.test(body)) return redact(body);
  try {
    return redact(printJson(parseJson(body)));
  } catch {
    const unescaped = body
      .replaceAll('\\/', '/')
      .replace(/\\u00([2-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    const redacted = redact(unescaped);
    // A body that is not JSON is only shown. The prefix keeps it from becoming valid JSON here.
    return redacted === unescaped ? body : `… ${redacted}`;
  }
}
