import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fetchRaw } from './asking.js';

const root = resolve(import.meta.dirname, '../../..');
let folder: string;
const children: ChildProcess[] = [];

/** Compiled apart from the rest of the sources, which may be in the middle of a change. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'control-plane-'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { noEmit: false, outDir: folder, rootDir: root, typeRoots: [join(root, 'node_modules/@types')] },
      include: [],
      files: [join(root, 'test/control-plane/cli.ts')],
    }),
  );
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(() => rm(folder, { recursive: true }));

interface Command {
  readonly child: ChildProcess;
  readonly firstLine: Promise<string>;
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Resolves with the first line on stderr that matches. */
  logged(pattern: RegExp): Promise<string>;
}

function run(...args: string[]): Command {
  const child = spawn(process.execPath, [join(folder, 'test/control-plane/cli.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let [stdout, stderr] = ['', ''];
  const watchers: { pattern: RegExp; found: (line: string) => void }[] = [];
  const lines: string[] = [];
  const firstLine = new Promise<string>((found) => {
    createInterface(child.stdout).on('line', (line) => {
      stdout += `${line}\n`;
      found(line);
    });
  });
  createInterface(child.stderr).on('line', (line) => {
    stderr += `${line}\n`;
    lines.push(line);
    for (const { pattern, found } of watchers) if (pattern.test(line)) found(line);
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((done) => {
    child.on('close', (code) => done({ code, stdout, stderr }));
  });
  const logged = (pattern: RegExp) =>
    new Promise<string>((found) => {
      const past = lines.find((line) => pattern.test(line));
      if (past !== undefined) found(past);
      else watchers.push({ pattern, found });
    });
  return { child, firstLine, ended, logged };
}

describe('the command', () => {
  it('says where it listens, serves, logs a line a request, and ends at SIGTERM', async () => {
    const command = run('--port', '0', '--api-key', 'my-secret', '--projects', '2', '--operations', '4', '--seed', '9');
    const started = JSON.parse(await command.firstLine);
    expect(started).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v2$/),
      api_key: 'my-secret',
      project_ids: [expect.any(String), expect.any(String)],
    });
    const path = `/projects/${started.project_ids[1]}/operations?limit=100`;
    const seen = await fetchRaw(started.base_url + path, { key: 'my-secret' });
    expect(JSON.parse(seen.body).operations).toHaveLength(4);
    await fetchRaw(`${started.base_url}/projects`, { key: 'wrong-secret' });
    await command.logged(/401/);
    command.child.kill('SIGTERM');
    const { code, stdout, stderr } = await command.ended;
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z GET \/v2\/projects\/\S+\/operations\?limit=100 200 \d+ms$/),
      expect.stringMatching(/^\S+Z GET \/v2\/projects 401 \d+ms$/),
    ]);
    expect(stderr).not.toContain('secret');
  });

  it('starts operations, makes faults, and ends at SIGINT though an exchange hangs', async () => {
    const fault = ['--fault', 'get-operation:2:503', '--fault', 'list-projects:*:hang'];
    const command = run('--operation-seconds', '0,3600', '--fail', '1', ...fault);
    const { base_url, api_key, project_ids, operation_ids } = JSON.parse(await command.firstLine);
    const look = (id: string) => fetchRaw(`${base_url}/projects/${project_ids[0]}/operations/${id}`, { key: api_key });
    expect(JSON.parse((await look(operation_ids[0])).body).operation.status).toBe('failed');
    expect((await look(operation_ids[1])).status).toBe(503);
    expect(JSON.parse((await look(operation_ids[1])).body).operation.status).toMatch(/scheduling|running/);
    await command.logged(/ 503 \d+ms status$/);
    const progress = fetchRaw(`${base_url}/projects`, { key: api_key });
    await look(operation_ids[0]);
    command.child.kill('SIGINT');
    expect((await command.ended).code).toBe(0);
    expect((await progress).error).toMatch(/^(socket hang up|read ECONNRESET)$/);
  });

  it('explains itself', async () => {
    const { code, stdout } = await run('--help').ended;
    expect(code).toBe(0);
    expect(stdout).toContain('--operation-seconds');
  });

  it.each([
    [['--nonsense'], "Unknown option '--nonsense'"],
    [['--port', '70000'], "--port must be a whole number up to 65535, not '70000'."],
    [['--fault', 'x:1:503'], "'x:1:503' is no fault"],
    [['--fail', '1'], '--fail asks for more operations'],
  ])('refuses %j with one error', async (args, message) => {
    const { code, stdout, stderr } = await run(...args).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`control-plane: ${message}`);
  });
});
