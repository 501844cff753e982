import type { Answer, Exchange } from '../http/exchange.js';
import { formsOfSecret } from '../text/forms-of-secret.js';
import { parseJson, printJson } from '../text/json.js';

/**
 * An exchange whose answers do not hold the key, should the service echo it. It is taken out before anything is read, as a
 * part of it, cut from a longer text, would be known by no mask.
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

/** JSON can write any letter as an escape; printed anew, it stands as itself. */
function bodyWithout(body: string, without: (text: string) => string): string {
  if (!body.includes('\\') || !/\\(\/|u00[2-7])/i.test(body)) return without(body);
  try {
    return without(printJson(parseJson(body)));
  } catch {
    const shown = body
      .replaceAll('\\/', '/')
      .replace(/\\u00([2-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    const safe = without(shown);
    // What is no JSON is only ever shown, and must not become JSON by this.
    return safe === shown ? body : `… ${safe}`;
  }
}
