import { expect, test, vi } from 'vitest';
import { run } from './fixture-action.js';

const PRINT_ENV = 'console.log(JSON.stringify(process.env))';

function environment(stdout: string): Record<string, unknown> {
  const value: unknown = JSON.parse(stdout);
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return { ...value };
}

test('inputs reach the action by name: given, or their default, or empty', async () => {
  const yml = `inputs:
  plain: {}
  two words: { default: 5 }
  with-hyphen: { default: 'yes' }
  github-token: { default: '\${{ github.token }}' }`;
  const inputs = { 'with-hyphen': '', Plain: true, other: 'x', absent: undefined };
  const result = await run({ main: PRINT_ENV, yml }, { inputs, token: 'tok-1234' });
  const env = environment(result.stdout);
  expect(Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('INPUT_')))).toEqual({
    INPUT_PLAIN: 'true',
    INPUT_TWO_WORDS: '5',
    'INPUT_WITH-HYPHEN': '',
    'INPUT_GITHUB-TOKEN': 'tok-1234',
    INPUT_OTHER: 'x',
  });
  expect(result.annotations).toMatchObject([
    {
      kind: 'warning',
      source: 'runner',
      message: "Unexpected input(s) 'other', valid inputs are ['plain', 'two words', 'with-hyphen', 'github-token']",
    },
  ]);
  expect(result.log).not.toContain('tok-1234');
});

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
  const ours = /^(CI|HTTP_PROXY|PATH|HOME|System|windir|ComSpec|PATHEXT|USERPROFILE|GITHUB_|RUNNER_)/;
  expect(Object.keys(env).filter((name) => !ours.test(name))).toEqual([]);
  expect(env).toMatchObject({ CI: 'true', GITHUB_REPOSITORY: 'me/mine', HTTP_PROXY: 'http://proxy' });
  expect(env).not.toHaveProperty('GITHUB_REPOSITORY_ID');
  expect(env).not.toHaveProperty('GITHUB_TOKEN');
  expect(env).not.toHaveProperty('RUNNER_DEBUG');
  expect(env['RUNNER_TEMP']).toContain(result.tempDir);
});

test('masks count from where they stand on', async () => {
  const main = `console.log('hush one');
    console.log('::add-mask::hush%0Aline two');
    console.log('hush and line two');
    console.log('::error title=hush::the hush broke');
    console.log('##[add-mask]later');`;
  const result = await run({ main });
  expect(result.log).toBe('hush one\n*** and ***\nError: the *** broke\n');
  expect(result.masks).toEqual(['hush\nline two', 'later']);
  expect(result.annotations).toEqual([
    { kind: 'error', message: 'the *** broke', title: 'hush', raw: 'the hush broke', source: 'action', shown: true },
  ]);
  expect(result.stdout).toContain('hush and line two');
  expect(result.conclusion).toBe('success');
});

test('commands work on both streams, in both forms, and in a last line that does not end', async () => {
  const main = `console.log('::group::A');
    console.log('  ::notice::n');
    console.log('::endgroup::');
    console.error('::warning::on stderr');
    console.log('::debug::unseen');
    console.log('text ##[set-output name=old]value');
    process.stdout.write('a\\r::save-state name=s::kept');`;
  const result = await run({ main });
  const fromStdout = '##[group]A\nNotice: n\n##[endgroup]\n';
  expect(result.log.replace('Warning: on stderr\n', '')).toMatch(new RegExp(`^${fromStdout.replaceAll('[', '\\[')}`));
  expect(result.log).toContain('Warning: on stderr\n');
  expect(result.log).not.toContain('unseen');
  expect(result.outputs).toEqual({ old: 'value' });
  expect(result.state).toEqual({ s: 'kept' });
  expect(result.commands.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['group', 'notice', 'endgroup', 'warning', 'debug', 'set-output', 'save-state']),
  );
  expect(result.annotations.filter(({ source }) => source === 'runner')).toHaveLength(2);
  expect(result.stderr).toBe('::warning::on stderr\n');
  expect(result.bytes.stderr.toString()).toBe(result.stderr);
  expect(result.lines.filter(({ stream }) => stream === 'stderr').map(({ text }) => text)).toEqual([
    '::warning::on stderr',
  ]);
});

test('commands between stop-commands and its token are text', async () => {
  const main = `console.log('::stop-commands::the-token');
    console.log('::error::not one');
    console.log('##[the-token]');
    console.log('::error::one');
    console.log('::stop-commands::error');`;
  const result = await run({ main });
  expect(result.annotations.map(({ message }) => message)).toMatchObject([
    'one',
    /* of the runner */ expect.anything(),
  ]);
  expect(result.log).toContain('::error::not one\n');
  expect(result.conclusion).toBe('failure');
});

test('the eleventh annotation of a kind is not shown, and a long message is cut', async () => {
  const result = await run({ main: "for (let i = 0; i < 11; i++) console.log('::notice::' + 'x'.repeat(5000))" });
  expect(result.annotations.map(({ shown }) => shown)).toEqual([...Array<boolean>(10).fill(true), false]);
  expect(result.annotations[0]?.message).toHaveLength(4096);
  expect(result.annotations[0]?.raw).toHaveLength(5000);
});

test('with debug on the log has what the action and the runner say for it', async () => {
  const main = "console.log('::debug::' + process.env.RUNNER_DEBUG); file('OUTPUT', 'a=b\\n')";
  expect((await run({ main }, { debug: true })).log).toBe('##[debug]1\n##[debug]Set output a = b\n');
});

test('command files are read with their values raw', async () => {
  const main = `console.log('::add-mask::hush');
    file('OUTPUT', 'key=hush\\nlong<<E\\none\\ntwo\\nE\\n');
    file('STATE', 'id=7\\n');
    file('ENV', 'KEY=hush\\nNODE_OPTIONS=-x\\n');
    file('PATH', '/one\\n/two\\n');
    file('STEP_SUMMARY', '# hush\\n');
    require('node:fs').writeFileSync(process.env.RUNNER_TEMP + '/result.json', '{}');
    file('OUTPUT', 'result-file=' + process.env.RUNNER_TEMP + '/result.json\\n');`;
  const result = await run({ main });
  expect(result.outputs).toMatchObject({ key: 'hush', long: 'one\ntwo' });
  expect(result.state).toEqual({ id: '7' });
  expect(result.env).toEqual({ KEY: 'hush' });
  expect(result.path).toEqual(['/one', '/two']);
  expect(result.summary).toBe('# hush\n');
  expect(result.summaryShown).toBe('# ***\n');
  expect(result.readFile(result.outputs['result-file'] ?? '')).toBe('{}');
  expect(result.annotations.map(({ message }) => message)).toEqual([expect.stringContaining('NODE_OPTIONS')]);
});

test('a malformed command file fails the step', async () => {
  const result = await run({ main: "file('OUTPUT', 'good=1\\nbad<<E\\nx\\n')" });
  expect(result).toMatchObject({ exitCode: 0, conclusion: 'failure', outputs: { good: '1' } });
  expect(result.invalid).toEqual([expect.stringMatching(/^output: .*'E'/)]);
});

test('a summary over its limit is dropped, and the step does not fail for it', async () => {
  const result = await run({ main: "file('STEP_SUMMARY', 'x'.repeat(1024 * 1024 + 1))" });
  expect(result).toMatchObject({ summaryDropped: true, summaryShown: '', conclusion: 'success' });
  expect(result.annotations).toMatchObject([{ kind: 'error', source: 'runner' }]);
});

test('the exit code decides, and a disabled command fails the step too', async () => {
  const [failed, disabled] = await Promise.all([
    run({ main: 'process.exitCode = 3' }),
    run({ main: "console.log('::set-env name=a::b')" }),
  ]);
  expect(failed).toMatchObject({ exitCode: 3, signal: null, conclusion: 'failure' });
  expect(disabled).toMatchObject({ exitCode: 0, conclusion: 'failure', env: {} });
});

test('a step that cannot start says so', async () => {
  await expect(run({ main: '' }, { node: '/nowhere/node' })).rejects.toThrow(/ENOENT/);
});
