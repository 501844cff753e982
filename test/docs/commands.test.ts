import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { help } from '../../control-plane/cli-options.js';
import { endpointOf, endpoints } from '../../control-plane/routes.js';

const page = readFileSync('docs/control-plane.md', 'utf8');
const key = 'local-test-key';
const temporary = mkdtempSync(join(tmpdir(), 'control-plane-'));
const running: (() => void)[] = [];

beforeAll(async () => {
  expect(await start('npm run -s compile:tools').ended).toBe(0);
});

afterAll(() => {
  for (const kill of running) kill();
  rmSync(temporary, { recursive: true });
});

function start(line: string) {
  const env = { PATH: process.env['PATH'], HOME: temporary, TMPDIR: temporary };
  const child = spawn('bash', ['-c', line], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const command = {
    stdout: '',
    stderr: '',
    ended: once(child, 'close').then(([code]: (number | null)[]) => code),
    /** Resolves when that is on stdout or stderr; rejects if the command ends without it, or takes too long. */
    printed: (text: string) => {
      const isThere = () => expect(command.stdout + command.stderr).toContain(text);
      return Promise.race([vi.waitFor(isThere, 30_000), command.ended.then(isThere)]);
    },
    /** To the command and all that it started. */
    signal: (name: NodeJS.Signals) => {
      try {
        process.kill(-(child.pid ?? Number.NaN), name);
      } catch {
        // It has ended.
      }
    },
  };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      command[stream] += text;
    });
  }
  running.push(() => command.signal('SIGKILL'));
  return command;
}

async function startPlane(line: string) {
  const command = start(line);
  await command.printed('\n');
  const { base_url: baseUrl }: { base_url: string } = JSON.parse(command.stdout);
  return { command, baseUrl };
}

function onFreePort(line: string): string {
  return line.replace(/--port \d+/, '--port 0').replace('npm run', 'npm run --ignore-scripts');
}

/** A control plane of the page, which here gets a free port. It prints what the page shows. */
async function startPlaneOfPage({ command: line, output }: ReturnType<typeof examplesOf>[number]) {
  const [, port = ''] = /--port (\d+)/.exec(line) ?? [];
  const started = await startPlane(onFreePort(line));
  const own = new URL(started.baseUrl).host;
  const here = (text: string) => text.replaceAll(`127.0.0.1:${port}`, own);
  const there = (text: string) => text.replaceAll(own, `127.0.0.1:${port}`);
  expect(there(started.command.stdout)).toBe(output);
  return { ...started, here };
}

describe.concurrent('the commands in docs/control-plane.md', () => {
  it('print the output that the page shows for a wait, a sweep and an audit of keys', async () => {
    const [server, begin, fault, script, wait, end] = examplesOf('Walk-through');
    if (!server || !begin || !fault || !script || !wait || !end) throw new Error('A command is missing.');
    const service = await startPlaneOfPage(server);
    const run = async (line: string) => {
      const command = start(service.here(line));
      await command.ended;
      return command.stdout;
    };
    for (const { command, output } of [begin, fault, script]) expect(await run(command)).toBe(output);
    const headers = { authorization: `Bearer ${key}` };
    const newest = () => fetch(`${service.baseUrl}/projects/quiet-bay-52744703/operations?limit=1`, { headers });
    // A person types for longer than the operation is scheduling.
    while (!(await (await newest()).text()).includes('"running"'));
    const waiting = start(service.here(wait.command.replace(/ &$/, '')));
    await waiting.printed(']\n');
    const printed = waiting.stdout;
    expect(shape(printed).replace(/req-\d+/, 'req-2')).toBe(shape(wait.output));
    expect(await run(end.command)).toBe('');
    expect(await waiting.ended).toBe(1);
    expect(shape(waiting.stdout.slice(printed.length))).toBe(shape(end.output));

    const ofKeys = ['Sweep keys', 'Audit keys'].flatMap((section) => examplesOf(section));
    expect(ofKeys).toHaveLength(6);
    for (const { command, output } of ofKeys) expect(shape(await run(command))).toBe(shape(output));

    service.command.signal('SIGINT');
    await service.command.ended;
    expect(service.command.stderr).not.toContain(key);
  });

  it('create a certificate with which the local control plane serves HTTPS', async () => {
    const [certificate, server] = examplesOf('TLS');
    if (!certificate || !server) throw new Error('A command is missing.');
    expect(await start(certificate.command).ended).toBe(0);
    const service = await startPlane(onFreePort(server.command));
    const address = `${service.baseUrl}/projects -H 'authorization: Bearer ${key}'`;
    const trusting = start(`curl -s --cacert build/certificate.pem ${address}`);
    expect(await trusting.ended).toBe(0);
    expect(JSON.parse(trusting.stdout).projects).toHaveLength(1);
  });

  it('print the help text of the local control plane', async () => {
    const { command = '' } = examplesOf('Walk-through').at(-1) ?? {};
    const printed = start(command.replace('npm run', 'npm run --ignore-scripts'));
    expect([await printed.ended, printed.stdout]).toEqual([0, help]);
  });
});

test('docs/control-plane.md lists exactly the endpoints that the local control plane serves', () => {
  const [, table = ''] = /^## Endpoints\n(.*?)^## /ms.exec(page) ?? [];
  const rows = table.replaceAll('…', '/projects/PROJECT').matchAll(/`(GET|POST|DELETE) ([^`]+)`/g);
  const listed = [...rows].map(([, method = '', path = '']) => endpointOf(method, `/v2${path}`));
  expect([...new Set(listed)].sort()).toEqual([...endpoints].sort());
});

test.concurrent('the demo shows a successful change, a failed change, and a key that is revoked when the job ends', async () => {
  const demo = start('node build/test/demo/demo.js');
  expect(await demo.ended).toBe(0);
  const parts = demo.stdout.split(/^━━ /m).slice(1);
  expect(parts.map((part) => /[✓✗] \w+/.exec(part)?.[0])).toEqual([
    ...['✓ success', undefined, '✓ success', '✗ failure', '✓ success', '✓ success', '✗ failure'],
  ]);
  expect(parts[0]).toMatch(/^ {2}key +\*{3}$/m);
  expect(parts.at(-1)).toContain('status 401');
});

/** The commands of a section, in order, each with the output that the page shows. */
function examplesOf(section: string): { command: string; output: string }[] {
  const [own = ''] = page.split(`\n## ${section}\n`)[1]?.split('\n## ') ?? [];
  const blocks = [...own.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block = '']) => block).join('');
  const examples = blocks.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm);
  return [...examples].map(([, command = '', output = '']) => ({ command, output }));
}

/** The same for two runs: without times, and without the random parts of a key name. */
function shape(output: string): string {
  return output
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/ *\b\d+(?:\.\d+)?(?:ms|s)\b/g, ' <duration>')
    .replaceAll(/-[a-z0-9]{10}-[a-z0-9]{12}\)/g, '-<random>)');
}
