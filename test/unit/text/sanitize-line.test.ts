import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sanitizeLine } from '../../../src/text/sanitize-line.js';

test.each([
  ['a colour code', '\u001b[31m'],
  ['a colour code with a C1 control character', '\u009b31m'],
  ['a terminal link', '\u001b]8;;https://evil.example\u0007'],
  ['a zero-width space', '\u200B'],
  ['a null character', '\u0000'],
  ['a carriage return', '\r'],
  ['a byte order mark', '\uFEFF'],
])('%s becomes a space, so a secret that it splits stays split', (_, inside) => {
  expect(sanitizeLine(`hun${inside}ter2`)).toBe('hun ter2');
});

test('letters of all scripts and emoji stay unchanged', () => {
  expect(sanitizeLine('Äpfel 价格 🙂')).toBe('Äpfel 价格 🙂');
});

test('any text becomes one line of bounded length without invisible characters', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 });
  const invisible = fc.constantFrom('', '\u001b[2J', '\r\n', '\u202E', '\u0085', '\u2028', '\u200B', '\uD83D');
  const property = fc.property(text, invisible, fc.integer({ min: 1, max: 100 }), (written, inside, max) => {
    const line = sanitizeLine(`${written}${inside}${written}`, max);
    expect(line.length).toBeLessThanOrEqual(max);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    expect(line).toBe(line.trim());
  });
  fc.assert(property);
});
