import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Figure, secondsFor } from './figure.js';
import { median } from './statistics.js';

const main = resolve('dist/main/index.js');
const pageSize = 100;

interface Variant {
  readonly projects: number;
  readonly paged?: boolean;
  readonly accents?: boolean;
}

interface Measured {
  readonly ms: number;
  /** Peak memory of the process, in MB. */
  readonly mb: number;
}

export async function listFigures(rounds: number, most: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-bench-'));
  const compare = (variant: Variant) => compareWithBare(variant, rounds, folder);
  try {
    const tenth = await compare({ projects: most / 10 });
    const whole = await compare({ projects: most });
    const pages = most / 2_000;
    const paged = await compare({ projects: pages * pageSize, paged: true });
    const accents = await compare({ projects: most, accents: true });
    const growth = whole.ours.ms / tenth.ours.ms;
    const memory = 4 * whole.bodyMb + 80;
    return [
      ratio(`${most / 10} projects in one body`, tenth, 2),
      ratio(`${most} projects in one body`, whole, 2),
      {
        name: `growth from ${most / 10} to ${most} projects`,
        measured: growth.toFixed(1),
        mustReach: 'under 11',
        reached: growth < 11,
      },
      {
        name: `${pages} pages of ${pageSize} projects, start to exit`,
        measured: `${(paged.ours.ms / 1_000).toFixed(1)} s`,
        mustReach: `${secondsFor(pages).toFixed(1)} s`,
        reached: paged.ours.ms <= 1_000 * secondsFor(pages),
        beside: `a bare script: ${(paged.bare.ms / 1_000).toFixed(1)} s`,
      },
      ratio(`${most} projects with non-ASCII names`, accents, 3),
      {
        name: `peak memory at ${most} projects, ${whole.bodyMb.toFixed(1)} MB of body`,
        measured: `${whole.ours.mb.toFixed(0)} MB`,
        mustReach: `${memory.toFixed(0)} MB`,
        reached: whole.ours.mb <= memory,
        beside: `a bare script: ${whole.bare.mb.toFixed(0)} MB`,
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

function ratio(name: string, { ours, bare }: Compared, most: number): Figure {
  const measured = ours.ms / bare.ms;
  return {
    name: `${name}, start to exit, against a bare script`,
    measured: `${measured.toFixed(2)}x`,
    mustReach: `${most}x`,
    reached: measured <= most,
    beside: `${ours.ms.toFixed(0)} ms to ${bare.ms.toFixed(0)} ms`,
  };
}

/** Reads the same bodies, parses each once, and writes all of them to a file. */
const bareScript = `
const { Agent, get } = require('node:http');
const { writeFileSync } = require('node:fs');
const agent = new Agent({ keepAlive: true });
const all = [];
const bodies = [];
function read(cursor) {
  get(process.env.URL + '/projects' + (cursor ? '?limit=100&cursor=' + encodeURIComponent(cursor) : ''), { agent }, (answer) => {
    const chunks = [];
    answer.on('data', (chunk) => chunks.push(chunk));
    answer.on('end', () => {
      const body = Buffer.concat(chunks);
      const { projects, pagination } = JSON.parse(body.toString());
      all.push(projects);
      bodies.push(body);
      if (pagination && pagination.cursor && projects.length > 0) return read(pagination.cursor);
      writeFileSync(process.env.FILE, bodies.length === 1 ? bodies[0] : JSON.stringify(all.flat()));
      agent.destroy();
    });
  });
}
read();
process.on('exit', () => require('node:fs').writeFileSync(process.env.MEMORY, String(process.resourceUsage().maxRSS)));
`;

async function compareWithBare(variant: Variant, rounds: number, folder: string): Promise<Compared> {
  const bodies = bodiesOf(variant);
  const server = createServer((request, response) => {
    const cursor = Number(new URL(request.url ?? '', 'http://host').searchParams.get('cursor') ?? 0);
    response.setHeader('content-type', 'application/json');
    response.end(bodies[cursor]);
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
    check(folder, variant.projects);
    return measured;
  };
  const runBare = () => run([bare], memory, { URL: url, FILE: join(folder, 'bare.json') });
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
  const bodyMb = bodies.reduce((sum, body) => sum + body.length, 0) / 1e6;
  return { ours: middle(ours), bare: middle(theirs), bodyMb };
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

/** The response bodies. The cursor is their index. */
function bodiesOf({ projects, paged = false, accents = false }: Variant): Buffer[] {
  const records = Array.from({ length: projects }, (_, index) => recordOf(index, accents));
  if (!paged) return [Buffer.from(`{"projects":[${records.join()}]}`)];
  const pages = Array.from({ length: Math.ceil(projects / pageSize) }, (_, page) =>
    records.slice(page * pageSize, (page + 1) * pageSize),
  );
  return pages.map((page, index) =>
    Buffer.from(
      `{"projects":[${page.join()}],"pagination":{${index + 1 < pages.length ? `"cursor":"${index + 1}"` : ''}}}`,
    ),
  );
}

/** About 400 bytes, like a record of the service. */
function recordOf(index: number, accents: boolean): string {
  const record = {
    id: `quiet-river-${String(index).padStart(8, '0')}`,
    name: accents ? `Übung-жизнь-${index}` : `project-${index}`,
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
