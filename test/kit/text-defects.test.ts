import { expect, test } from 'vitest';
import { summaryDefects } from './text-defects.js';

const defects = '@octocat|#1|https://evil|<b>|`a`|[a](b)|**a**|&lt;|```\n|:tada:|GH-1|see 1234abc';
const tags = ['<code>a&b</code>', '<a href="x">y</a>'];

test.for([...defects.split('|'), ...tags])('the summary check finds the defect %j', (text) => {
  expect(summaryDefects('### ✅ x\n\n<p>y</p>')).toEqual([]);
  expect(summaryDefects(`### ✅ x\n\n<p>${text}</p>`)).not.toEqual([]);
});
