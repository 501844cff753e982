import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Figure } from './figure.js';
import { median } from './statistics.js';

const main = resolve('dist/main/index.js');

interface Measured {
  readonly ms: number;
  /** Peak memory of the process, in MB. */
  readonly mb: number;
}

export async function listFigures(rounds: number, projects: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-bench-'));
  try {
    const { ours, bare, bodyMb } = await compareWithBare(projects, rounds, folder);
    const measured = ours.ms / bare.ms;
    const memory = 4 * bodyMb + 80;
    return [
      {
        name: `${projects} projects in one body, start to exit, against a bare script`,
        measured: `${measured.toFixed(2)}x`,
        mustReach: '2x',
        reached: measured <= 2,
        beside: `${ours.ms.toFixed(0)} ms to ${bare.ms.toFixed(0)} ms`,
      },
      {
        name: `peak memory at ${projects} projects, ${bodyMb.toFixed(1)} MB of body`,
        measured: `${ours.mb.toFixed(0)} MB`,
        mustReach: `${memory.toFixed(0)} MB`,
        reached: ours.mb <= memory,
        beside: `a bare script: ${bare.mb.toFixed(0)} MB`,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Compared {
  readonly ours: Measured;
  readonly bare: Measured;
  readonly bodyMb: number;
}

/** Reads the same body, parses it, and writes it to a file. */
const bareScript = `
const { get } = require('node:http');
const { writeFileSync } = require('node:fs');
get(process.env.URL + '/projects', (answer) => {
  const chunks = [];
  answer.on('data', (chunk) => chunks.push(chunk));
  answer.on('end', () => {
    const body = Buffer.concat(chunks);
    JSON.parse(body.toString());
    writeFileSync(process.env.FILE, body);
  });
});
`;

async function compareWithBare(projects: number, rounds: number, folder: string): Promise<Compared> {
  const body = Buffer.from(`{"projects":[${Array.from({ length: projects }, (_, index) => recordOf(index)).join()}]}`);
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`;
  const memory = join(folder, 'memory');
  const tell = join(folder, 'tell.cjs');
  writeFileSync(
    tell,
    `process.on('exit', () => require('node:fs').writeFileSync(process.env.MEMORY, String(process.resourceUsage().maxRSS)));`,
  );
  const bare = join(folder, 'bare.cjs');
  writeFileSync(bare, bareScript);
  const runOurs = async () => {
    for (const name of ['output', 'summary']) writeFileSync(join(folder, name), '');
    const measured = await run(['--require', tell, main], memory, {
      INPUT_MODE: 'list-projects',
      'INPUT_API-KEY': 'key-of-the-bench',
      'INPUT_BASE-URL': url,
      RUNNER_TEMP: folder,
      GITHUB_OUTPUT: join(folder, 'output'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary'),
    });
    check(folder, projects);
    return measured;
  };
  const runBare = () => run(['--require', tell, bare], memory, { URL: url, FILE: join(folder, 'bare.json') });
  const ours: Measured[] = [];
  const theirs: Measured[] = [];
  for (let round = -1; round < rounds; round++) {
    const [one, other] = [await runOurs(), await runBare()];
    if (round < 0) continue;
    ours.push(one);
    theirs.push(other);
  }
  server.close();
  server.closeAllConnections();
  return { ours: middle(ours), bare: middle(theirs), bodyMb: body.length / 1e6 };
}

function middle(all: readonly Measured[]): Measured {
  return { ms: median(all.map(({ ms }) => ms)), mb: median(all.map(({ mb }) => mb)) };
}

/** An incomplete list would make the figure meaningless. */
function check(folder: string, projects: number): void {
  const [name = ''] = readdirSync(folder).filter((file) => file.startsWith('ctl-list-projects-'));
  const outputs = readFileSync(join(folder, 'output'), 'utf8');
  if (statSync(join(folder, name)).size < projects * 100 || !outputs.includes(`\n${projects}\n`))
    throw new Error('A list of the bench is not whole.');
  rmSync(join(folder, name));
}

async function run(args: readonly string[], memory: string, env: Record<string, string>): Promise<Measured> {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...env, MEMORY: memory },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`A process of the bench ended with ${code}.`);
  return { ms: performance.now() - began, mb: Number(readFileSync(memory, 'utf8')) / 1024 };
}

/** About 400 bytes, like a record of the service. */
function recordOf(index: number): string {
  const record = {
    id: `quiet-river-${String(index).padStart(8, '0')}`,
    name: `project-${index}`,
    platform_id: 'cloud',
    region_id: ['cloud-eu-central', 'cloud-eu-west', 'cloud-us-east'][index % 3],
    provisioner: 'pod',
    pg_version: 14 + (index % 4),
    locked: false,
    cpu_used_sec: index * 37,
    proxy_host: 'eu-central.db.example',
    branch_logical_size_limit: 204800,
    created_at: '2026-01-31T09:30:00.123456Z',
    updated_at: '2026-02-28T19:45:00.654321Z',
    note: 'x'.repeat(40),
  };
  return JSON.stringify(record);
}
