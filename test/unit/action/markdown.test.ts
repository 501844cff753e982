import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textHtml } from '../../../src/action/markdown.js';
import { summaryDefects } from '../../kit/text-defects.js';

test.each([
  ['Check base-url, then re-run (it took 1.5s).', 'Check base-url, then re-run (it took 1.5s).'],
  ['- timeout: “ten” is bad', '- timeout: <code>ten</code> is bad'],
  ['Key 165423 (shop-run1) was', 'Key <code>165423</code> (<code>shop-run1</code>) was'],
  ['has no `operation.id`; expected', 'has no <code>operation.id</code>; expected'],
  ['/v2/p: status 503, see https://x.test/?a.', '<code>/v2/p</code>: status 503, see <code>https://x.test/?a</code>.'],
  ['by @octocat in #12 or GH-12', 'by <code>@octocat</code> in <code>#12</code> or <code>GH-12</code>'],
  ['in 1a2b3c4 :tada:', 'in <code>1a2b3c4 :tada</code>:'],
  ['<b> & “<i>', '<code>&lt;b&gt; &amp; “&lt;i&gt;</code>'],
  ['two\n\nlines', 'two<br><br>lines'],
])('the text %j stands in a summary as %j', (text, html) => {
  expect(textHtml(text)).toBe(html);
});

test('no text is more than text in a summary', () => {
  const signs = '“”`"\'()[]<>&@#:;*_~!|/\\-. \n\rab7é';
  const parts = fc.constantFrom(...signs, '```', 'www.x.test', 'GH-7', '##[x]', 'abcdef0');
  const text = fc.oneof(
    fc.array(parts, { maxLength: 12 }).map((all) => all.join('')),
    fc.string({ maxLength: 40 }),
  );
  const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
  const property = fc.property(text, (written) => {
    const html = textHtml(written.replace(invisible, (sign) => (/[\n\r]/.test(sign) ? sign : ' ')));
    expect(summaryDefects(`### ✅ x\n\n<p>${html}</p>\n`)).toEqual([]);
  });
  fc.assert(property, { numRuns: 2_000 });
});
