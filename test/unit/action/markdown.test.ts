import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textHtml } from '../../../src/action/markdown.js';
import { summaryDefects } from '../../kit/text-defects.js';

test.each([
  ['Check base-url, re-run (it took 1.5s of 10m).', 'Check base-url, re-run (it took 1.5s of 10m).'],
  ['item 2: “” is bad', 'item 2: “” is bad'],
  ['mode: “`x`” is bad', 'mode: <code>`x`</code> is bad'],
  ['- timeout: “ten” is bad', '- timeout: <code>ten</code> is bad'],
  ['Key 165423 (shop-run1) was', 'Key <code>165423</code> (<code>shop-run1</code>) was'],
  ['has no `operation.id`; expected', 'has no <code>operation.id</code>; expected'],
  ['GET /v2/projects: see https://x.test/?a.', 'GET <code>/v2/projects</code>: see <code>https://x.test/?a</code>.'],
  ['with status 503, again', 'with status 503, again'],
  ['by @octocat in #12 or GH-12', 'by <code>@octocat</code> in <code>#12</code> or <code>GH-12</code>'],
  ['in 1a2b3c4 :tada:', 'in <code>1a2b3c4 :tada</code>:'],
  ['<b> & “<i>', '<code>&lt;b&gt; &amp; “&lt;i&gt;</code>'],
  ['two\n\nlines', 'two<br><br>lines'],
])('the text %j stands in a summary as %j', (text, html) => {
  expect(textHtml(text)).toBe(html);
});

test('a summary shows any text as plain text', () => {
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
