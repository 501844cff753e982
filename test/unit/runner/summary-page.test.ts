import { expect, test } from 'vitest';
import { summaryPage } from '../../runner/summary-page.js';

test('the page of a summary stands alone, and shows its heading, its blocks of HTML and the source of its picture', () => {
  const summary = '### A wait & more\n\n<p><code>a*b*</code></p>\n\n```mermaid\ngantt\n\n  a<b :1, 2\n```\n';
  const page = summaryPage(summary, 'A <wait>');
  expect(page).toContain('<title>A &lt;wait&gt;</title>');
  expect(page).toContain('<h3>A wait & more</h3>\n\n<p><code>a*b*</code></p>\n\n');
  expect(page).toContain('<pre class="mermaid">gantt\n\n  a&lt;b :1, 2</pre>');
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/<script|https?:/);
});
