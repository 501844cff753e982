import { parseJson, printJson } from '../text/json.js';
import type { Answer, Exchange } from './exchange.js';

/**
 * An exchange whose answers do not hold the key, should the service echo it. It is taken out before anything is read, as a
 * part of it, cut from a longer text, would be known by no mask.
 */
export function forgetting(secret: string, exchange: Exchange): Exchange {
  const written = JSON.stringify(secret).slice(1, -1);
  const without = (text: string) => text.replaceAll(secret, '***').replaceAll(written, '***');
  return async (request, onStop) => {
    const answer = await exchange(request, onStop);
    return { ...answer, headers: withoutIn(answer.headers, without), body: without(unescaped(answer.body)) };
  };
}

function withoutIn(headers: Answer['headers'], without: (text: string) => string): Answer['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? without(value) : value]),
  );
}

/** JSON can write any letter as an escape; printed anew, it stands as itself. What is no JSON is only ever shown. */
function unescaped(body: string): string {
  if (!/\\(\/|u00[2-7])/i.test(body)) return body;
  try {
    return printJson(parseJson(body));
  } catch {
    return body
      .replaceAll('\\/', '/')
      .replace(/\\u00([2-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
}
