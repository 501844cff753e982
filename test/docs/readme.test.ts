import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { startGitHub } from '../github/index.js';
import { setStage } from '../scenarios/stage.js';

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

const readme = readFileSync('README.md', 'utf8');
const examples = [...readme.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, block = '']) => stepsOf(parse(block)));

function stepsOf(example: readonly Step[] | Workflow): readonly Step[] {
  return 'jobs' in example ? Object.values(example.jobs).flatMap(({ steps }) => steps) : example;
}

test('the README has examples, and one of every mode', () => {
  expect(examples.length).toBeGreaterThan(2);
  const shown = new Set(examples.flat().map((step) => step.with?.['mode']));
  const modes = /mode. \| all \| required \| (.*) \|/.exec(readme)?.[1]?.match(/[a-z]+-[a-z]+/g) ?? [];
  expect(modes.length).toBeGreaterThan(2);
  expect(modes.filter((mode) => !shown.has(mode))).toEqual([]);
});

test.concurrent.for(examples)('the example %# of the README works as it stands', async (steps, context) => {
  const { service, projectId, folder, runMode, runPost } = await setStage(context);
  const started = ['br-main-1', 'br-main-2'].map((branchId) =>
    service.plane.startOperation({ projectId, branchId, lengthMs: Number.POSITIVE_INFINITY }),
  );
  // However late the first look comes, it finds them unfinished.
  service.arrived().then(
    () => {
      for (const operation of started) service.plane.endOperation(operation);
    },
    () => undefined,
  );
  const operations = started.map(({ id }) => ({ id, project_id: projectId }));
  script(folder, 'change-something.sh', `echo '${JSON.stringify({ operations })}'`);
  // With a key, or with the id of a project.
  script(folder, 'migrate.sh', 'test "$(printf %s "$DB_API_KEY" | wc -c)" -eq 64 || echo "$1" >> migrated');
  const github = await startGitHub({
    token: 'the-token-of-this-job',
    repository: 'acme/shop',
    repositoryId: 123456789,
  });
  context.onTestFinished(() => github.close());
  github.addRun({ id: '9876543210' });

  const values: Record<string, string> = {
    'secrets.CTL_API_KEY': service.apiKey,
    'vars.CTL_BASE_URL': service.baseUrl,
    'vars.CTL_PROJECT_ID': projectId,
    'steps.change.outputs.operation-ids': JSON.stringify(started.map(({ id }) => id)),
    'steps.mint.outputs.key-name': service.plane.addKey('shop-run1-1').name,
    'matrix.shard': '1',
    "join(matrix.batch, ' ')": projectId,
  };
  const evaluate = (record: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(record).map(([name, text]) => [
        name,
        text.replace(/\$\{\{ (.+?) \}\}/g, (_, expression: string) => {
          const value = values[expression];
          if (value === undefined) throw new Error(`The test does not know ${expression}.`);
          return value;
        }),
      ]),
    );

  const results = [];
  for (const step of steps) {
    if (step.run !== undefined) {
      const env = { ...process.env, ...evaluate(step.env) };
      execFileSync('sh', ['-e', '-c', step.run], { cwd: folder, env });
    }
    if (step.uses === undefined || step.uses.startsWith('actions/checkout@')) continue;
    expect(step.uses).toBe('org/ctl-action@v1');
    const { mode = '', ...inputs } = evaluate(step.with);
    const env = { GITHUB_WORKSPACE: folder, GITHUB_API_URL: github.url };
    const result = await runMode(mode, inputs, { env });
    expect(result.conclusion, result.log).toBe('success');
    expect(result.annotations).toEqual([]);
    for (const [name, value] of Object.entries(result.outputs)) values[`steps.${step.id}.outputs.${name}`] = value;
    results.push(result);
  }
  for (const result of results.reverse()) {
    const post = await runPost(result);
    expect(post.conclusion, post.log).toBe('success');
    expect(post.annotations).toEqual([]);
  }
  expect(service.plane.aliveKeys().filter(({ name }) => name.startsWith('shop-run98'))).toEqual([]);
});

function script(folder: string, name: string, line: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
}

test('what the README quotes of errors is what the action says', () => {
  const bundles = ['dist/main', 'dist/post'].flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFileSync(join(folder, file), 'utf8')),
  );
  const table = readme.slice(readme.indexOf('| it says |'));
  const quoted = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, words = '']) => words);
  expect(quoted.length).toBeGreaterThan(5);
  // The name of an input is put in when it is said.
  const isSaid = (words: string) => bundles.some((bundle) => bundle.includes(words.replace(/^[a-z-]+: /, '')));
  expect(quoted.filter((words) => !isSaid(words))).toEqual([]);
});
