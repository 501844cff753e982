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
  const blocks = [...readme.matchAll(/^( *)```yaml\n(.*?)\n\1```$/gms)].map(([, margin = '', block = '']) =>
    block.replaceAll(new RegExp(`^${margin}`, 'gm'), ''),
  );
  expect(blocks).toHaveLength(readme.match(/```yaml/g)?.length ?? 0);
  expect(blocks.filter((block) => !examples.some((example) => isPart(block, example)))).toEqual([]);
});

/** Whether the lines of the block are lines of the example, in a row and with the same indentation for all. */
function isPart(block: string, example: string): boolean {
  return [0, 2, 4, 6, 8, 10].some((depth) => {
    const indented = block.replaceAll(/^(?=.)/gm, ' '.repeat(depth));
    return `\n${example}`.includes(`\n${indented}\n`);
  });
}
