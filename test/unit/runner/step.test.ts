import { expect, test, vi } from 'vitest';
import { run } from './fixture-action.js';

const PRINT_ENV = 'console.log(JSON.stringify(process.env))';

function environment(stdout: string): Record<string, unknown> {
  const value: unknown = JSON.parse(stdout);
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return { ...value };
}

test('nothing of the host leaks, and a test has the last word', async () => {
  for (const name of [
    'HTTPS_PROXY',
    'no_proxy',
    'NODE_OPTIONS',
    'GITHUB_TOKEN',
    'NODE_EXTRA_CA_CERTS',
    'RUNNER_DEBUG',
  ]) {
    vi.stubEnv(name, name === 'NODE_OPTIONS' ? '--no-warnings' : 'leak');
  }
  const overrides = { GITHUB_REPOSITORY: 'me/mine', GITHUB_REPOSITORY_ID: undefined, HTTP_PROXY: 'http://proxy' };
  const result = await run({ main: PRINT_ENV }, { env: overrides }).finally(() => vi.unstubAllEnvs());
  const env = environment(result.stdout);
  const ours = /^(CI|HTTP_PROXY|PATH|HOME|System|windir|ComSpec|PATHEXT|USERPROFILE|GITHUB_|RUNNER_|ACTIONS_RUNTIME_)/;
  expect(Object.keys(env).filter((name) => !ours.test(name))).toEqual([]);
  expect(env).toMatchObject({ CI: 'true', GITHUB_REPOSITORY: 'me/mine', HTTP_PROXY: 'http://proxy' });
  expect(env).not.toHaveProperty('GITHUB_REPOSITORY_ID');
  expect(env).not.toHaveProperty('GITHUB_TOKEN');
  expect(env).not.toHaveProperty('RUNNER_DEBUG');
  expect(env['RUNNER_TEMP']).toContain(result.tempDir);
});

test('a result has what a step printed, stream by stream, and the commands in it', async () => {
  const main = `console.log('::add-mask::hush%0Aline two');
    console.log('x ##[set-output name=a]b');
    console.error('::warning::on stderr');`;
  const result = await run({ main });
  expect(result.commands.map(({ name }) => name).toSorted()).toEqual(['add-mask', 'set-output', 'warning']);
  expect(result.masks).toEqual(['hush\nline two']);
  expect(result.annotations.map(({ source }) => source).toSorted()).toEqual(['action', 'runner']);
  expect(result.stdout).toBe('::add-mask::hush%0Aline two\nx ##[set-output name=a]b\n');
  expect(result.stderr).toBe('::warning::on stderr\n');
  expect(result.bytes.stderr.toString()).toBe(result.stderr);
  expect(result.lines.filter(({ stream }) => stream === 'stderr').map(({ text }) => text)).toEqual([
    '::warning::on stderr',
  ]);
});

test('with debug on the log has what the action and the runner say for it', async () => {
  const main = "console.log('::debug::' + process.env.RUNNER_DEBUG); file('OUTPUT', 'a=b\\n')";
  expect((await run({ main }, { debug: true })).log).toBe('##[debug]1\n##[debug]Set output a = b\n');
});

test('a result has what a step wrote to its command files, and its other files', async () => {
  const main = `console.log('::add-mask::hush');
    file('ENV', 'KEY=hush\\n');
    file('PATH', '/one\\n/two\\n');
    file('STEP_SUMMARY', '# hush');
    require('node:fs').writeFileSync(process.env.RUNNER_TEMP + '/result.json', '{}');
    file('OUTPUT', 'result-file=' + process.env.RUNNER_TEMP + '/result.json\\n');`;
  const result = await run({ main });
  expect(result.env).toEqual({ KEY: 'hush' });
  expect(result.path).toEqual(['/one', '/two']);
  expect(result.summary).toBe('# hush');
  expect(result.summaryShown).toBe('# ***\n');
  expect(result.readFile(result.outputs['result-file'] ?? '')).toBe('{}');
});

test('a result names the command files that are malformed', async () => {
  const result = await run({ main: "file('OUTPUT', 'good=1\\nbad<<E\\nx\\n')" });
  expect(result.invalid).toEqual([expect.stringMatching(/^output: .*'E'/)]);
});

test('a step that cannot start says so', async () => {
  await expect(run({ main: '' }, { node: '/nowhere/node' })).rejects.toThrow(/ENOENT/);
});
