import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codeHtml, tableHtml } from '../../../src/action/markdown.js';

test('no text opens a tag or an entity, or leaves its own', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('<', '>', '&', '"', "'", '/', 'img', 'code', ';', '#', '`', '|', ' ')),
      (parts) => {
        const text = parts.join('');
        const html = codeHtml(text);
        const inside = /^<code>(.*)<\/code>$/s.exec(html)?.[1] ?? html;
        expect(inside).not.toMatch(/[<>"']/);
        expect(inside.replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
        const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
        expect(inside.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')).toBe(text);
      },
    ),
  );
});

test('a table is one block of HTML: no empty line, after which Markdown would begin', () => {
  const html = tableHtml(
    ['A', 'B'],
    [
      ['1', ''],
      ['', '2'],
    ],
  );
  expect(html).not.toMatch(/\n\s*\n/);
  expect(html.match(/<tr>/g)).toHaveLength(3);
  expect(html.match(/<td>/g)).toHaveLength(4);
});
