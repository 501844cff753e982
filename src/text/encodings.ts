/** Characters. A mask of a shorter secret would hide ordinary text: a key `o` turns every `o` of the log into `***`. */
export const minSecretLength = 8;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

/** The secret as text and in JSON, HTML, a URL and base64. Services also log the base64 of the `Authorization` header. */
export function secretEncodings(secret: string): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const encodings = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    escapeHtml(secret),
    encodeURIComponent(secret),
    base64(secret),
    base64(`Bearer ${secret}`),
  ];
  return [...new Set(encodings)];
}
