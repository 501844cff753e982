import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly steps?: readonly { readonly with?: { readonly mode?: string } }[] }>
  >;
}

const examples = readdirSync('examples').map((file) => readFileSync(join('examples', file), 'utf8'));

test('every mode is shown in an example', () => {
  const shown = examples
    .flatMap((example) => Object.values((parse(example) as Workflow).jobs))
    .flatMap(({ steps = [] }) => steps.flatMap((step) => step.with?.mode ?? []));
  const description: string = parse(readFileSync('action.yml', 'utf8')).inputs.mode.description;
  const modes = description.match(/(?<=`)[a-z]+-[a-z]+(?=`)/g) ?? [];
  expect(modes).toHaveLength(7);
  expect([...new Set(shown)].sort()).toEqual(modes.sort());
});

// The examples are run in real runners (npm run test:official, npm run e2e); so what the README shows has been run there, too.
test('each YAML block of the README is a part of an example, word for word', () => {
  const readme = readFileSync('README.md', 'utf8');
  const blocks = [...readme.matchAll(/^( *)```yaml\n(.*?)\n\1```$/gms)].map(([, , block = '']) => block);
  expect(blocks).toHaveLength(readme.match(/```yaml/g)?.length ?? 0);
  expect(blocks.filter((block) => !examples.some((example) => isPart(block, example)))).toEqual([]);
});

test('a part is lines in a row, wherever they begin', () => {
  const example = 'jobs:\n  wait:\n    steps:\n      - run: a\n        env:\n          B: c\n';
  expect(isPart('- run: a\n  env:\n    B: c', example)).toBe(true);
  expect(isPart(example.trimEnd(), example)).toBe(true);
  expect(isPart('- run: a\n  env:\n  B: c', example)).toBe(false);
  expect(isPart('steps:\n  - run: a\n      B: c', example)).toBe(false);
  expect(isPart('- run: b', example)).toBe(false);
});

function isPart(block: string, example: string): boolean {
  const wanted = block.split('\n');
  const lines = example.split('\n');
  return lines.some((_, first) => fromTheMargin(lines.slice(first, first + wanted.length)) === fromTheMargin(wanted));
}

function fromTheMargin(lines: readonly string[]): string {
  const indents = lines.filter((line) => line !== '').map((line) => line.search(/\S/));
  const margin = Math.min(...indents);
  return lines.map((line) => line.slice(margin)).join('\n');
}
