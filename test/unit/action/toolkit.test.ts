import { expect, test, vi } from 'vitest';
import { toolkit } from '../../../src/action/toolkit.js';

for (const say of ['info', 'notice', 'warning', 'error', 'debug'] as const) {
  test(`${say} lets no command through`, ({ onTestFinished }) => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    vi.stubEnv('RUNNER_DEBUG', '1');
    onTestFinished(() => {
      write.mockRestore();
      vi.unstubAllEnvs();
    });
    toolkit[say]('a ##[add-mask]b');
    const said = write.mock.calls.map(([text]) => text).join('');
    expect(said).toContain('add-mask]b');
    expect(said).not.toContain('##[');
  });
}
