import { expect, test } from 'vitest';
import { Secrets } from '../../../src/action/secrets.js';

function secretsOf(...known: string[]) {
  const masked: string[] = [];
  const secrets = new Secrets((secret) => masked.push(secret));
  for (const secret of known) secrets.add(secret);
  return { masked, secrets };
}

test('a secret is masked once, as it is, and nothing empty is', () => {
  expect(secretsOf('hunter2', '').masked).toEqual(['hunter2']);
});

test.each([
  ['in a text', 'say hunter2 twice: hunter2', 'say *** twice: ***'],
  ['not at all', 'nothing', 'nothing'],
])('it is taken out of a text: %s', (_, text, shown) => {
  expect(secretsOf('hunter2').secrets.redact(text)).toBe(shown);
});

test('a secret with signs that JSON escapes is taken out of JSON too', () => {
  const secret = 'a"b\\c';
  const { secrets } = secretsOf(secret);
  expect(secrets.redact(JSON.stringify({ said: `x${secret}y` }))).toBe('{"said":"x***y"}');
});

test('signs that mean something in a pattern or a replacement are plain signs', () => {
  expect(secretsOf('.*$&').secrets.redact('abc .*$& def')).toBe('abc *** def');
});
