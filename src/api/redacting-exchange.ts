import type { Exchange, HttpResponse } from '../http/exchange.js';
import { secretEncodings } from '../text/encodings.js';
import { parseJson, printJson } from '../text/json.js';

/**
 * Removes the secret from responses that echo it, before other code sees them. A shortened message could hold a part of
 * the secret, which no mask matches.
 */
export function redactSecret(secret: string, exchange: Exchange): Exchange {
  const encodings = secretEncodings(secret);
  const redact = (text: string) => encodings.reduce((rest, form) => rest.replaceAll(form, '***'), text);
  return async (request, onCancel) => {
    const response = await exchange(request, onCancel);
    return { ...response, headers: mapHeaders(response.headers, redact), body: redactBody(response.body, redact) };
  };
}

function mapHeaders(headers: HttpResponse['headers'], change: (text: string) => string): HttpResponse['headers'] {
  const result: Record<string, string | undefined> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string') result[name] = change(value);
  }
  return result;
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
