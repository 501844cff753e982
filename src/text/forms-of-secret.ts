import { escapeHtml } from './escape-html.js';

/** A secret as it stands in a text, in JSON, in HTML and in a URL, and as services write down the header that it came in. */
export function formsOfSecret(secret: string): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    escapeHtml(secret),
    encodeURIComponent(secret),
    base64(secret),
    base64(`Bearer ${secret}`),
  ];
  return [...new Set(forms)];
}
