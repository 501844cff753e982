import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sanitizeLine } from '../../../src/text/sanitize-line.js';

const invisible = ['\u001b', '\u009b', '\u0007', '\u200B', '\0', '\r', '\uFEFF'];
test.each(invisible)('the invisible text %j becomes a space, so a secret that it splits stays split', (inside) => {
  expect(sanitizeLine(`hun${inside}ter2`)).toBe('hun ter2');
});

test('any text becomes one line of bounded length without invisible characters', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 });
  const inside = fc.constantFrom('', '\u001b[2J', '\r\n', '\u202E', '\u0085', '\u2028', '\u200B', '\uD83D');
  const property = fc.property(text, inside, fc.integer({ min: 1, max: 100 }), (written, between, max) => {
    const line = sanitizeLine(`${written}${between}${written}`, max);
    expect(line.length).toBeLessThanOrEqual(max);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    expect(line).toBe(line.trim());
  });
  fc.assert(property);
});
