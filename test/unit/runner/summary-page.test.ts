import { expect, test } from 'vitest';
import { renderMarkdown, summaryPage } from '../../runner/summary-page.js';

test.each([
  ['## A *title*', '<h2>A <em>title</em></h2>'],
  ['### Done ###', '<h3>Done</h3>'],
  ['#no', '<p>#no</p>'],
  ['one\ntwo\n\nthree', '<p>one\ntwo</p>\n<p>three</p>'],
  ['text\n## Next', '<p>text</p>\n<h2>Next</h2>'],
  ['- a\n- **b**\n  more\n\nend', '<ul>\n<li>a</li>\n<li><strong>b</strong>\nmore</li>\n</ul>\n<p>end</p>'],
  ['<table><tr><td>a*b*</td></tr></table>', '<table><tr><td>a*b*</td></tr></table>'],
  [
    '<details><summary>More</summary>\n\n- a\n\n</details>',
    '<details><summary>More</summary>\n<ul>\n<li>a</li>\n</ul>\n</details>',
  ],
  ['```mermaid\ngantt\n\n  a<b :1, 2\n```\nend', '<pre class="mermaid">gantt\n\n  a&lt;b :1, 2</pre>\n<p>end</p>'],
  ['````\n```\n````', '<pre>```</pre>'],
  ['`<b>` and `` `x` ``', '<p><code>&lt;b&gt;</code> and <code>`x`</code></p>'],
  ['a < b & c &lt; <br> \\*d\\* \\<i>', '<p>a &lt; b &amp; c &lt; <br> *d* &lt;i&gt;</p>'],
  ['[run *1*](https://example.com/?a=1&b=2)', '<p><a href="https://example.com/?a=1&amp;b=2">run <em>1</em></a></p>'],
  ['2 * 3 * 4 and snake_case_name', '<p>2 * 3 * 4 and snake_case_name</p>'],
])('%j is rendered', (markdown, html) => {
  expect(renderMarkdown(markdown)).toBe(html);
});

test('the page stands alone', () => {
  const page = summaryPage('# Hello', 'A <wait>');
  expect(page).toContain('<title>A &lt;wait&gt;</title>');
  expect(page).toContain('<h1>Hello</h1>');
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/<script|https?:/);
});
