import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sanitizeLine } from '../../../src/text/sanitize-line.js';

const invisible = {
  ...{ 'an escape': '\u001b', 'a C1 control': '\u009b', 'a bell': '\u0007', 'a zero-width space': '\u200B' },
  ...{ 'a NUL': '\0', 'a carriage return': '\r', 'a byte order mark': '\uFEFF' },
};
test.each(Object.entries(invisible))('%s becomes a space and does not join the parts of a secret', (_, inside) => {
  expect(sanitizeLine(`hun${inside}ter2`)).toBe('hun ter2');
});

test('any text is printed as one line of limited length without invisible characters', () => {
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
