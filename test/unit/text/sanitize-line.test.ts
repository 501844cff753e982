import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sanitizeLine } from '../../../src/text/sanitize-line.js';

test.each([
  ['colours are removed', '\u001b[31mred\u001b[0m', 'red'],
  ['links of a terminal are removed', '\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007', 'here'],
  ['C1 controls are removed', 'a \u009b31m b', 'a b'],
  ['letters of all scripts stay', 'Äpfel 价格 🙂', 'Äpfel 价格 🙂'],
])('%s', (_, text, line) => {
  // An escape sequence may leave one space or more.
  expect(sanitizeLine(text).replace(/\s+/g, ' ')).toBe(line);
});

test.each(['\u001b[0m', '\u009b31m', '\u001b]8;;x\u0007', '\u200B', '\u0000', '\r', '\uFEFF'])(
  'a secret with %j inside does not become whole again: no mask would cover it',
  (inside) => {
    expect(sanitizeLine(`hun${inside}ter2`)).not.toContain('hunter2');
  },
);

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
