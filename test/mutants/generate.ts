import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Instrumenter } from '@stryker-mutator/instrumenter';

type Logger = ConstructorParameters<typeof Instrumenter>[0];

export interface Mutant {
  /** Its number among all mutants of the same files. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  /** The line, without its indent. */
  readonly source: string;
  /** The original and its replacement, shortened. */
  readonly change: string;
  /** A hash of the seed and the mutant; changes elsewhere leave it as it is. It is the name of the mutant's switch, too. */
  readonly rank: string;
}

export interface SourceFile {
  readonly name: string;
  readonly content: string;
}

/** What of Babel is used here. The types of Babel are not installed. */
interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly callee?: Node;
  readonly expression?: Node;
  readonly property?: { readonly name?: string };
}
interface Mutator {
  readonly name: string;
  mutate(path: { readonly node: Node }): Iterable<unknown>;
}

/** Stryker has no mutants for a statement that is missing and for a number that is off by one. */
const moreMutators: readonly Mutator[] = [
  {
    name: 'StatementDeletion',
    *mutate({ node: { type, expression } }) {
      const isSuper = expression?.callee?.type === 'Super';
      if (type === 'ThrowStatement' || (type === 'ExpressionStatement' && !isSuper)) yield { type: 'EmptyStatement' };
    },
  },
  {
    name: 'NumericLiteral',
    *mutate({ node: { type, value } }) {
      if (type === 'NumericLiteral') yield { type, value: Number(value) + 1 };
    },
  },
];

const logger = new Proxy({} as Logger, { get: () => () => false });

/** What Stryker's code calls. Its own version counts coverage, which takes too long for tests that measure time. */
const header = `
function stryCov_9fa48() {}
function stryMutAct_9fa48(id) {
  const state = (globalThis.mutantOfProcess ??= { active: process.env.__STRYKER_ACTIVE_MUTANT__, hits: 0 });
  if (state.active !== id) return false;
  if (++state.hits > 20_000_000) throw new Error('an endless loop');
  return true;
}
`;

/** All mutants of the files. */
export async function generate(files: readonly SourceFile[], seed: number): Promise<Mutant[]> {
  const result = await instrument(files, () => true);
  const contents = new Map(files.map(({ name, content }) => [name, content.split('\n')]));
  const seen = new Map<string, number>();
  return result.mutants
    .filter(({ status }) => status !== 'Ignored')
    .map(({ id, fileName, location: { start, end }, mutatorName, replacement = '' }): Mutant => {
      const lines = contents.get(fileName) ?? [];
      const source = lines[start.line]?.trim() ?? '';
      const change = `${shorten(cut(lines, start, end))} → ${shorten(replacement)}`;
      const text = JSON.stringify([seed, fileName, mutatorName, source, change]);
      const occurrence = seen.get(text) ?? 0;
      seen.set(text, occurrence + 1);
      const rank = createHash('sha256').update(`${text}${occurrence}`).digest('hex').slice(0, 16);
      return { id, file: fileName, line: start.line + 1, kind: mutatorName, source, change, rank };
    })
    .filter(isWorthATest);
}

/** The files with the drawn mutants, each behind a switch: `__STRYKER_ACTIVE_MUTANT__` in the environment is its rank. */
export async function switchable(files: readonly SourceFile[], drawn: readonly Mutant[]): Promise<SourceFile[]> {
  const ranks = new Map(drawn.map(({ id, rank }) => [id, rank]));
  const result = await instrument(files, (id) => ranks.has(id));
  const inOrder = drawn.toSorted((one, other) => Number(one.id) - Number(other.id));
  const isSameCode = result.mutants.every(({ location }, index) => location.start.line + 1 === inOrder[index]?.line);
  if (!isSameCode || result.mutants.length !== inOrder.length)
    throw new Error('Stryker did not place all mutants that were drawn.');
  return result.files.map(({ name, content }) => ({
    name,
    content: `${header}${content.replace(/stryMutAct_9fa48\("(\d+)"\)/g, (_, id) => `stryMutAct_9fa48("${inOrder[id]?.rank}")`)}`,
  }));
}

async function instrument(files: readonly SourceFile[], isWanted: (id: string) => boolean) {
  // The package has no option for other mutators. Its list is not frozen, and its version is pinned.
  const entry = pathToFileURL(createRequire(import.meta.url).resolve('@stryker-mutator/instrumenter'));
  const { allMutators }: { allMutators: Mutator[] } = await import(new URL('mutators/index.js', entry).href);
  const original = [...allMutators];
  let next = 0;
  const counted = [...original, ...moreMutators].map(({ name, mutate }) => ({
    name,
    *mutate(path: { readonly node: Node }) {
      for (const replacement of mutate(path)) if (isWanted(String(next++))) yield replacement;
    },
  }));
  allMutators.splice(0, original.length, ...counted);
  try {
    return await new Instrumenter(logger).instrument(
      files.map((file) => ({ ...file, mutate: true })),
      {
        plugins: null,
        excludedMutations: [],
        ignorers: [{ shouldIgnore: ({ node }: { readonly node: Node }) => (isDebugCall(node) ? 'debug' : undefined) }],
        noHeader: true,
      },
    );
  } finally {
    allMutators.splice(0, counted.length, ...original);
  }
}

/** One mutant for every 20 lines of each file, drawn by the seed; fewer where a file, of types or texts, has no more. */
export function draw(mutants: readonly Mutant[], files: readonly SourceFile[]): Mutant[] {
  return files.flatMap(({ name, content }) => {
    const ofFile = mutants.filter(({ file }) => file === name);
    const lines = content.trimEnd().split('\n').length;
    return byRank(ofFile).slice(0, Math.ceil(lines / 20));
  });
}

export function byRank(mutants: readonly Mutant[]): Mutant[] {
  return mutants.toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
}

export function readSources(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path))
    .sort()
    .map((name) => ({ name, content: readFileSync(name, 'utf8') }));
}

/**
 * A text with a space is for people: only a test that quotes it would find the mutant. Without one it is a word of a
 * protocol, an input or an output. A text that was empty is not needed: other kinds change whether it is used.
 */
function isWorthATest({ kind, change }: Mutant): boolean {
  return kind !== 'StringLiteral' || /^['"`][^\s$]+['"`] → /.test(change);
}

function isDebugCall({ type, callee }: Node): boolean {
  return type === 'CallExpression' && callee?.property?.name === 'debug';
}

type Position = { readonly line: number; readonly column: number };

function cut(all: readonly string[], start: Position, end: Position): string {
  const lines = all.slice(start.line, end.line + 1);
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column) ?? '';
  return lines.join(' ').slice(start.column);
}

function shorten(code: string): string {
  const text = code.replace(/\s+/g, ' ');
  return text.length > 100 ? `${text.slice(0, 70)} … ${text.slice(-25)}` : text;
}
