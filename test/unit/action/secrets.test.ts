import { expect, test } from 'vitest';
import { Secrets } from '../../../src/action/secrets.js';

test('a secret is redacted in plain text, JSON, HTML, URLs and base64', () => {
  const secrets = new Secrets(() => undefined);
  // Each way writes some characters of it differently, and its base64 ends with `==`.
  secrets.add('key "12" & 3%');
  for (const text of [
    ...['key "12" & 3%', 'key \\"12\\" & 3%', 'key &quot;12&quot; &amp; 3%', 'key%20%2212%22%20%26%203%25'],
    ...['a2V5ICIxMiIgJiAzJQ', 'QmVhcmVyIGtleSAiMTIiICYgMyU'],
  ])
    expect(secrets.redact(`<${text}>`)).toBe('<***>');
});

test('an empty secret is neither masked nor redacted', () => {
  const masked: string[] = [];
  const secrets = new Secrets((text) => masked.push(text));
  secrets.add('');
  expect([masked, secrets.redact('abc')]).toEqual([[], 'abc']);
});
