import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { publish } from '../../../src/action/publish.js';
import { Secrets } from '../../../src/action/secrets.js';
import type { Toolkit } from '../../../src/action/toolkit.js';

const key = 'a&key"that-must-not-leak';

for (const error of [undefined, `the error holds ${key}`]) {
  test(`no secret gets further, ${error === undefined ? 'green' : 'red'}`, async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const said: string[] = [];
    const outputs = new Map<string, string>();
    const say = (line: string) => void said.push(line);
    const toolkit: Toolkit = {
      input: () => '',
      mask: () => undefined,
      info: say,
      notice: say,
      warning: say,
      error: say,
      debug: say,
      output: (name, value) => void outputs.set(name, value),
      state: () => undefined,
      variable: () => undefined,
      summary: async (markdown) => say(markdown),
    };
    const secrets = new Secrets(toolkit.mask);
    secrets.add(key);

    await publish(
      {
        status: 'error',
        succeeded: false,
        headline: `The headline holds ${key}`,
        error,
        notice: `the notice holds ${key}`,
        outputs: [{ name: 'operations', value: JSON.stringify([key]) }],
        result: [JSON.stringify({ key })],
      },
      1,
      { toolkit, secrets, environment: { RUNNER_TEMP: folder }, mode: 'wait-operation', wantsSummary: true },
    );

    const file = readFileSync(outputs.get('result-file') ?? '', 'utf8');
    for (const text of [...said, ...outputs.values(), file]) expect(text).not.toContain('must-not-leak');
    expect(outputs.get('operations')).toBe('["***"]');
    expect(JSON.parse(file)).toEqual({ key: '***' });
    if (process.platform !== 'win32') expect(statSync(outputs.get('result-file') ?? '').mode & 0o777).toBe(0o600);
  });
}
