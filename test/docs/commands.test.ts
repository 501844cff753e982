import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { help, parseCliOptions } from '../../control-plane/cli-options.js';
import { endpointOf, endpoints } from '../../control-plane/routes.js';

const page = readFileSync('docs/control-plane.md', 'utf8');
const key = 'local-test-key';
const temporary = mkdtempSync(join(tmpdir(), 'control-plane-'));
const running: (() => void)[] = [];
const like = (text: string | RegExp) => (typeof text === 'string' ? text : expect.stringMatching(text));

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

type Addresses = Record<'base_url' | 'control_url', string>;
type Plane = Readonly<Addresses & { project_ids: readonly string[]; command: ReturnType<typeof start> }>;

async function startPlane(line: string): Promise<Plane> {
  const command = start(line);
  await command.printed('\n');
  return { command, ...JSON.parse(command.stdout) };
}

const plane = (options: string) => startPlane(`exec node build/control-plane/cli.js --api-key ${key} ${options}`);

async function send(url: string, init: RequestInit) {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

function ask({ base_url }: Plane, path: string) {
  return send(base_url + path, { headers: { authorization: `Bearer ${key}` } });
}

function control({ control_url }: Plane, path: string, form: string | Record<string, string> = '', method = 'POST') {
  return send(control_url + path, { method, body: new URLSearchParams(form) });
}

function onFreePort(line: string): string {
  return line.replace(/--port \d+/, '--port 0').replace('npm run', 'npm run --ignore-scripts');
}

/** A control plane of the page, which here gets a free port. It prints what the page shows. */
async function startPlaneOfPage({ command: line, output }: ReturnType<typeof examplesOf>[number]) {
  const [, port = ''] = /--port (\d+)/.exec(line) ?? [];
  const started = await startPlane(onFreePort(line));
  const own = new URL(started.base_url).host;
  const here = (text: string) => text.replaceAll(`127.0.0.1:${port}`, own);
  const there = (text: string) => text.replaceAll(own, `127.0.0.1:${port}`);
  expect(there(started.command.stdout)).toBe(output);
  return { ...started, here };
}

describe.concurrent('the commands in docs/control-plane.md', () => {
  it('wait for a failed operation, and sweep and audit keys, with the output that the page shows', async () => {
    const [server, begin, fault, script, wait, end] = examplesOf('Walk-through');
    if (!server || !begin || !fault || !script || !wait || !end) throw new Error('A command is missing.');
    const service = await startPlaneOfPage(server);
    const run = async (line: string) => {
      const command = start(service.here(line));
      await command.ended;
      return command.stdout;
    };
    for (const { command, output } of [begin, fault, script]) expect(await run(command)).toBe(output);
    const newest = () => ask(service, '/projects/quiet-bay-52744703/operations?limit=1');
    while ((await newest()).body.operations[0].status !== 'running') {
      // A person types for longer than the operation is scheduling.
    }
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
    const log = service.command.stderr.split('\n').filter((line) => /^\d/.test(line));
    const form = /^\d\d:\d\d:\d\d\.\d{3}Z (?:GET|POST|DELETE) \/\S+ \d{3}: .+$/;
    expect(log.filter((line) => !form.test(line))).toEqual([]);
  });

  it('create a certificate that the control plane takes', async () => {
    const [certificate, server] = examplesOf('TLS');
    if (!certificate || !server) throw new Error('A command is missing.');
    expect(await start(certificate.command).ended).toBe(0);
    const service = await startPlane(onFreePort(server.command));
    const address = `${service.base_url}/projects -H 'authorization: Bearer ${key}'`;
    const trusting = start(`curl -s --cacert build/certificate.pem ${address}`);
    expect(await trusting.ended).toBe(0);
    expect(JSON.parse(trusting.stdout).projects).toHaveLength(1);
  });

  it('print the options that the page names', async () => {
    const { command = '' } = examplesOf('Walk-through').at(-1) ?? {};
    const printed = start(command.replace('npm run', 'npm run --ignore-scripts'));
    expect([await printed.ended, printed.stdout]).toEqual([0, help]);
  });
});

test('docs/control-plane.md lists the endpoints that the control plane serves', () => {
  const [, table = ''] = /^## Endpoints\n(.*?)^## /ms.exec(page) ?? [];
  const rows = table.replaceAll('…', '/projects/PROJECT').matchAll(/`(GET|POST|DELETE) ([^`]+)`/g);
  const listed = [...rows].map(([, method = '', path = '']) => endpointOf(method, `/v2${path}`));
  expect([...new Set(listed)].sort()).toEqual([...endpoints].sort());
});

describe.concurrent('the control-plane command', () => {
  it('injects faults from options and from requests until they are removed', async () => {
    const service = await plane('--fault list-keys:*:500 --fault list-projects:1:429=7');
    const status = async (path: string) => (await ask(service, path).catch(() => undefined))?.status;
    expect([await status('/api_keys'), await status('/projects'), await status('/projects')]).toEqual([500, 429, 200]);
    await control(service, '/faults', { rule: 'list-projects:2+:html' });
    expect([await status('/projects'), await status('/projects')]).toEqual([200, 200]);
    await service.command.printed('GET /v2/projects 200: key 1, not JSON, fault html\n');
    expect((await control(service, '/faults', '', 'DELETE')).body).toEqual({ faults: [] });
    await control(service, '/faults', { rule: 'list-projects:1:cut' });
    expect([await status('/api_keys'), await status('/projects')]).toEqual([200, undefined]);
    await service.command.printed('GET /v2/projects no response: key 1, 3 projects, fault cut-before-headers\n');
    expect(await status('/projects')).toBe(200);
  });

  it('exits at SIGTERM although a request hangs', async () => {
    const service = await plane('--fault any:*:hang');
    const hanging = ask(service, '/projects').catch((error: unknown) => error);
    expect((await control(service, '/runs/1')).status).toBe(200);
    service.command.signal('SIGTERM');
    expect(await service.command.ended).toBe(0);
    expect(await hanging).toBeInstanceOf(TypeError);
  });
});

describe.concurrent('the control-plane command rejects', () => {
  const noRule = (rule: string) => `--fault: '${rule}' is not a rule for a fault: `;

  it.each([
    ['--nonsense', "Unknown option '--nonsense'"],
    ['--port 70000', "--port must be a whole number from 0 to 65535, not '70000'."],
    ['--api-key short', '--api-key must be 8 or more printable ASCII characters without spaces.'],
    ['--burst 40', '--burst needs --rate.'],
    ['--tls-key package.json --tls-cert package.json', /^--tls-key and --tls-cert: .*PEM/],
    ['--fault keys:1:503', new RegExp(`^${noRule('keys:1:503')}'keys' is none of list-keys, .* and any\\.$`)],
    ['--fault any:1:hung', new RegExp(`^${noRule('any:1:hung')}'hung' is neither a status nor one of hang, `)],
  ])('%s, and says why', (options, message) => {
    expect(() => parseCliOptions(options.split(' '))).toThrow(expect.objectContaining({ message: like(message) }));
  });

  it.each([
    ['--operations -1', /^Option '--operations' argument is ambiguous\.$/, 2],
    ['--host 192.0.2.1', /^Cannot listen: .*192\.0\.2\.1.* Choose another --host or --port\.$/, 1],
  ])('%s with one line on stderr', async (options, message, exitCode) => {
    const command = start(`node build/control-plane/cli.js ${options}`);
    expect(await command.ended).toBe(exitCode);
    const [, said] = /^control-plane: (.+)\n$/.exec(command.stderr) ?? [];
    expect(said).toMatch(message);
    expect(command.stdout).toBe('');
  });

  it('bad requests with a status and a message', async () => {
    const service = await plane('--projects 1');
    const project = `/projects/${service.project_ids[0]}`;
    const refusals: readonly [request: string, message: string | RegExp, method?: string][] = [
      [`${project}/operations?acton=x`, "400 There is no field 'acton'; known are: action, seconds, outcome."],
      [`${project}/operations?seconds=-1`, "400 seconds must be a number up to 999999, not '-1'."],
      ['/faults?rule=x', "400 'x' is not a rule for a fault: expected ENDPOINT:WHEN:WHAT, as in get-operation:3:503."],
      ['/runs/7?status=done', "400 status must be one of queued, in_progress, completed, not 'done'."],
      ['/runs', '404 There is no PUT /control/runs. docs/control-plane.md lists what there is.', 'PUT'],
    ];
    for (const [request, message, method] of refusals) {
      const [path = '', form] = request.split('?');
      const { status, body } = await control(service, path, form, method);
      expect(`${status} ${body.message}`).toEqual(like(message));
    }
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const message = expect.stringContaining('must be a form, as curl sends it');
    expect(await send(`${service.control_url}/faults`, json)).toEqual({ status: 415, body: { message } });
  });
});

describe.concurrent('the demo', () => {
  it('shows a change, a change that fails, and a key that is dead when the job has ended', async () => {
    const demo = start('node build/test/demo/demo.js');
    expect(await demo.ended).toBe(0);
    const { stdout } = demo;
    const parts = stdout.split(/^━━ /m).slice(1);
    const ended = parts.map((part) => [part.split(' ━')[0], /[✓✗] \w+/.exec(part)?.[0]]);
    expect(Object.fromEntries(ended)).toEqual({
      'A key for this job': '✓ success',
      'A step prints the key by mistake': undefined,
      'A change': '✓ success',
      'A change that fails': '✗ failure',
      'Projects for a matrix': '✓ success',
      'The job ends': '✓ success',
      'A thief tries the key': '✗ failure',
    });
    expect(parts[0]).toMatch(/^ {2}key +\*{3}$/m);
    expect(parts.at(-1)).toContain('status 401');
    expect([stdout.includes(process.cwd()), stdout.includes(tmpdir())]).toEqual([false, false]);
    const named = [...stdout.matchAll(/docs\/[\w./-]+\w|README\.md/g)].map(([path]) => path);
    expect(named).toHaveLength(2);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
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
