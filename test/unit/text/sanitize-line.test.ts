import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sanitizeLine } from '../../../src/text/sanitize-line.js';

test.each([
  ['line ends become blanks', 'one\r\ntwo\u2028three', 'one two three'],
  ['colours go', '\u001b[31mred\u001b[0m', 'red'],
  ['links of a terminal go', '\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007', 'here'],
  ['C1 controls go', 'a \u009b31m b', 'a b'],
  ['marks of direction go', 'abc\u202Edef\u2066ghi\u200F', 'abc def ghi'],
  ['what has no width goes', 'se\u200Bcret\uFEFF', 'se cret'],
  ['halves of a pair go', 'a\uD83Db', 'a b'],
  ['letters of all scripts stay', 'Äpfel 价格 🙂', 'Äpfel 价格 🙂'],
  ['nothing stays nothing', '', ''],
])('%s', (_, text, shown) => {
  const said = sanitizeLine(text);
  // An escape sequence may leave a blank or nothing.
  expect(said.replace(/\s+/g, ' ')).toBe(shown);
});

test.each(['\u001b[0m', '\u009b31m', '\u001b]8;;x\u0007', '\u200B', '\u0000', '\r', '\uFEFF'])(
  'a secret with %j inside is not put together again, as no mask would know it before',
  (inside) => {
    expect(sanitizeLine(`hun${inside}ter2`)).not.toContain('hunter2');
  },
);

test('for any text it is one line of bounded length without anything invisible', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom('', '\u001b[2J', '\r\n', '\u202E', '\u0085'),
      fc.integer({ min: 1, max: 100 }),
      (text, nasty, most) => {
        const said = sanitizeLine(`${text}${nasty}${text}`, most);
        expect(said.length).toBeLessThanOrEqual(most);
        expect(said).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        expect(said).toBe(said.trim());
      },
    ),
  );
});

test('text of megabytes costs no more than its beginning', () => {
  const began = performance.now();
  expect(sanitizeLine('\u001b['.repeat(8_000_000), 100).length).toBeLessThanOrEqual(100);
  expect(performance.now() - began).toBeLessThan(1_000);
});
