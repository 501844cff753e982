import { expect, test } from 'vitest';
import { Secrets } from '../../../src/action/secrets.js';

test('a secret is redacted in plain text, JSON, HTML, URLs and base64', () => {
  const secrets = new Secrets(() => undefined);
  // Each encoding changes some characters of this secret. Its base64 ends with `==`.
  secrets.add('key "12" & 3%');
  for (const text of [
    ...['key "12" & 3%', 'key \\"12\\" & 3%', 'key &quot;12&quot; &amp; 3%', 'key%20%2212%22%20%26%203%25'],
    ...['a2V5ICIxMiIgJiAzJQ', 'QmVhcmVyIGtleSAiMTIiICYgMyU'],
  ])
    expect(secrets.redact(`<${text}>`)).toBe('<***>');
});

test('a secret is redacted completely even if it begins with another secret', () => {
  const secrets = new Secrets(() => undefined);
  for (const secret of ['key-of-8', 'key-of-8-and-more']) secrets.add(secret);
  expect(secrets.redact('key-of-8-and-more')).toBe('***');
});

test('the beginning of a secret is redacted at the end of a shortened text', () => {
  const secrets = new Secrets(() => undefined);
  for (const secret of ['key-of-8-and-more', 'aaaaaaaaaab']) secrets.add(secret);
  for (const shown of ['key-of-8', 'key-of-8-and-mor', 'aaaaaaaaaa'])
    expect(secrets.redact(`(a ${shown}…; b ${shown}… c)`)).toBe('(a ***…; b ***… c)');
  for (const other of ['key-of-8 and mor…', 'key-of-…', 'key-of-8', 'the end…'])
    expect(secrets.redact(other)).toBe(other);
});

test('a secret of seven characters is too short to be masked or redacted', () => {
  const masked: string[] = [];
  const secrets = new Secrets((text) => masked.push(text));
  secrets.add('', 'timeout', 'eight-ch');
  expect([masked, secrets.redact('a timeout')]).toEqual([['eight-ch'], 'a timeout']);
});
