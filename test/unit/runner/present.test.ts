import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { Masker } from '../../runner/masker.js';
import { headline, presentStep } from '../../runner/present.js';

test('headline, log, outputs and end of a step stand below each other', () => {
  const masker = new Masker();
  masker.add('hush');
  const log = 'before\nError: it broke\n';
  const outputs = { status: 'failed', 'operation-ids': '["1",\n "2"]', key: 'hush', empty: '', long: 'x'.repeat(101) };
  const shown = presentStep({ log, outputs, conclusion: 'failure', ms: 1234, job: { masker } });
  expect(stripVTControlCharacters(`${headline('A wait')}\n${shown}`)).toBe(`━━ A wait ${'━'.repeat(68)}
  before
  Error: it broke

Outputs
  status         failed
  operation-ids  ["1", "2"]
  key            ***
  long           ${'x'.repeat(99)}… (101 characters)

✗ failure after 1.2 s
`);
});
