/** Minimum number of characters. Masking a shorter secret would hide ordinary text: a mask for `o` hides every `o`. */
export const minSecretLength = 8;

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

/** The secret as text, in JSON, HTML, a URL and base64. Services also log the base64 of `Bearer <secret>`. */
export function secretEncodings(secret: string): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const inJson = JSON.stringify(secret).slice(1, -1);
  // A lone surrogate has no form in a URL.
  const inUrl = encodeURIComponent(Buffer.from(secret).toString());
  const inBase64 = [base64(secret), base64(`Bearer ${secret}`)];
  return [...new Set([secret, inJson, escapeHtml(secret), inUrl, ...inBase64])];
}
