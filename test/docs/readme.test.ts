import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { setStage } from '../scenarios/stage.js';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
}

const readme = readFileSync('README.md', 'utf8');
const examples = [...readme.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, block = '']) => parse(block) as Step[]);

test('the README has examples', () => {
  expect(examples.length).toBeGreaterThan(2);
});

test.concurrent.for(examples)('the example %# of the README works as it stands', async (steps, context) => {
  const { service, projectId, folder, run } = await setStage(context);
  const started = [300, 600].map((lengthMs) =>
    service.plane.startOperation({ projectId, lengthMs, branchId: `br-main-${lengthMs}` }),
  );
  const operations = started.map(({ id }) => ({ id, project_id: projectId }));
  writeFileSync(join(folder, 'change-something.sh'), `#!/bin/sh\necho '${JSON.stringify({ operations })}'\n`, {
    mode: 0o755,
  });
  const values: Readonly<Record<string, string>> = {
    'secrets.CTL_API_KEY': service.apiKey,
    'vars.CTL_BASE_URL': service.baseUrl,
    'vars.CTL_PROJECT_ID': projectId,
    'steps.change.outputs.operation-ids': JSON.stringify(started.map(({ id }) => id)),
  };
  const evaluate = (text: string) =>
    text.replace(/\$\{\{ (\S+) \}\}/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`The test does not know ${name}.`);
      return value;
    });

  for (const step of steps) {
    if (step.run !== undefined) execFileSync('sh', ['-e', '-c', step.run], { cwd: folder });
    if (step.uses === undefined) continue;
    expect(step.uses).toBe('org/ctl-action@v1');
    const inputs = Object.entries(step.with ?? {}).map(([name, value]) => [name, evaluate(value)]);
    const result = await run(Object.fromEntries(inputs), { env: { GITHUB_WORKSPACE: folder } });
    expect(result.conclusion, result.log).toBe('success');
    expect(result.annotations).toEqual([]);
  }
});

test('what the README quotes of errors is what the action says', () => {
  const bundle = readFileSync('dist/main/index.js', 'utf8');
  const table = readme.slice(readme.indexOf('| it says |'));
  const quoted = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, words = '']) => words);
  expect(quoted.length).toBeGreaterThan(5);
  // The name of an input is put in when it is said.
  expect(quoted.filter((words) => !bundle.includes(words.replace(/^[a-z-]+: /, '')))).toEqual([]);
});
