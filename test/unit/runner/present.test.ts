import { expect, test } from 'vitest';
import { Masker } from '../../runner/masker.js';
import { headline, presentStep, type Shown, wantsColours } from '../../runner/present.js';

function step(overrides: Partial<Shown> = {}): Shown {
  const masker = new Masker();
  masker.add('hush');
  return { log: '', outputs: {}, conclusion: 'success', ms: 1234, job: { masker }, ...overrides };
}

test('log, outputs and end stand below each other', () => {
  const log = 'before\n##[group]Three things\none\n##[endgroup]\nError: it broke\n';
  const outputs = { status: 'failed', 'operation-ids': '["1",\n "2"]', key: 'hush', empty: '', long: 'x'.repeat(30) };
  expect(presentStep(step({ log, outputs, conclusion: 'failure' }), { width: 10 })).toBe(`  before
  ▾ Three things
    one
  Error: it broke

Outputs
  status         failed
  operation-ids  ["1", "2"]
  key            ***
  long           xxxxxxxxx… (30 characters)

✗ failure after 1.2 s
`);
});

test('colours come only where they are asked for', () => {
  const shown = step({ log: 'Error: it broke\n', outputs: { a: 'b' } });
  expect(headline('A wait') + presentStep(shown)).not.toContain('\u001b');
  const coloured = headline('A wait', true) + presentStep(shown, { colours: true });
  expect(coloured).toContain('\u001b[1m━━ A wait ━');
  expect(coloured).toContain('\u001b[31mError: it broke\u001b[0m');
  expect(coloured).toContain('\u001b[32m✓ success\u001b[0m');
});

test('colours are for a terminal whose user did not refuse them', () => {
  expect(wantsColours({ isTTY: true }, {})).toBe(true);
  expect(wantsColours({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
  expect(wantsColours({}, {})).toBe(false);
});
