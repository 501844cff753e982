import { expect, test, vi } from 'vitest';
import { toolkit } from '../../../src/action/toolkit.js';

for (const kind of ['info', 'notice', 'warning', 'error', 'debug'] as const) {
  test(`${kind} escapes commands`, ({ onTestFinished }) => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    vi.stubEnv('RUNNER_DEBUG', '1');
    onTestFinished(() => {
      write.mockRestore();
      vi.unstubAllEnvs();
    });
    toolkit[kind]('a ##[add-mask]b');
    const printed = write.mock.calls.map(([text]) => text).join('');
    expect(printed).toContain('add-mask]b');
    expect(printed).not.toContain('##[');
  });
}
