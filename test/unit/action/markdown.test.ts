import fc from 'fast-check';
import { expect, test } from 'vitest';
import { paragraph } from '../../../src/action/markdown.js';
import { summaryDefects } from '../../kit/text-defects.js';

test('the job summary shows any text from the service as plain text', () => {
  const signs = '“”`"\'()[]<>&@#:;*_~!|/\\-. \n\rab7é';
  const parts = fc.constantFrom(...signs, '```', 'www.x.test', 'GH-7', '##[x]', 'abcdef0');
  const text = fc.oneof(
    fc.array(parts, { maxLength: 12 }).map((all) => all.join('')),
    fc.string({ maxLength: 40 }),
  );
  const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
  const property = fc.property(text, (written) => {
    const html = paragraph(written.replace(invisible, (sign) => (/[\n\r]/.test(sign) ? sign : ' ')));
    expect(summaryDefects(`### ✅ x\n\n${html}`)).toEqual([]);
  });
  fc.assert(property, { numRuns: 2_000 });
});
