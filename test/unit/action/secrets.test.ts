import { expect, test } from 'vitest';
import { Secrets } from '../../../src/action/secrets.js';

/** JSON, HTML and a URL each write some characters of it in another way, and its base64 ends with `==`. */
const secret = 'key "12" & 3%';

test.each([
  ['as it is', secret],
  ['in JSON', 'key \\"12\\" & 3%'],
  ['in HTML', 'key &quot;12&quot; &amp; 3%'],
  ['in a URL', 'key%20%2212%22%20%26%203%25'],
  ['in base64 without padding', 'a2V5ICIxMiIgJiAzJQ'],
  ['in the base64 of a header', 'QmVhcmVyIGtleSAiMTIiICYgMyU'],
])('a secret is redacted %s', (_, text) => {
  const secrets = new Secrets(() => undefined);
  secrets.add(secret);
  expect(secrets.redact(`<${text}>`)).toBe('<***>');
});

test('an empty secret is neither masked nor redacted', () => {
  const masked: string[] = [];
  const secrets = new Secrets((text) => masked.push(text));
  secrets.add('');
  expect([masked, secrets.redact('abc')]).toEqual([[], 'abc']);
});
