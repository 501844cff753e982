import type { Answer, Exchange } from '../http/exchange.js';
import { formsOfSecret } from '../text/forms-of-secret.js';
import { parseJson, printJson } from '../text/json.js';

/**
 * Removes the secret from responses, in case the service echoes it. This comes before any other code reads the response:
 * a message may cut the secret, and no mask matches a part of it.
 */
export function forgetting(secret: string, exchange: Exchange): Exchange {
  const forms = formsOfSecret(secret);
  const without = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, '***'), text);
  return async (request, onStop) => {
    const answer = await exchange(request, onStop);
    return { ...answer, headers: mapped(answer.headers, without), body: bodyWithout(answer.body, without) };
  };
}

function mapped(headers: Answer['headers'], change: (text: string) => string): Answer['headers'] {
  const result: Record<string, string | undefined> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string') result[name] = change(value);
  }
  return result;
}

/** JSON can escape any character. After parsing and printing, the secret appears in its plain form. */
function bodyWithout(body: string, without: (text: string) => string): string {
  if (!body.includes('\\') || !/\\(\/|u00[2-7])/i.test(body)) return without(body);
  try {
    return without(printJson(parseJson(body)));
  } catch {
    const shown = body
      .replaceAll('\\/', '/')
      .replace(/\\u00([2-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    const safe = without(shown);
    // A body that is not JSON is only shown. The prefix keeps it from becoming valid JSON here.
    return safe === shown ? body : `… ${safe}`;
  }
}
