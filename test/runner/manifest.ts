import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

export interface Manifest {
  readonly directory: string;
  readonly main: string;
  readonly post: string | undefined;
  /** Declared inputs in their order, each with its default as written. */
  readonly inputs: ReadonlyMap<string, string>;
}

const cache = new Map<string, Manifest>();

export function loadManifest(path = 'action.yml'): Manifest {
  const file = resolve(path);
  const known = cache.get(file) ?? readManifest(parse(readFileSync(file, 'utf8')), dirname(file));
  cache.set(file, known);
  return known;
}

/** As far as a sound action.yml goes: a test validates the project's by GitHub's own schema. */
interface Content {
  readonly runs: { readonly main: string; readonly post?: string };
  readonly inputs?: Readonly<Record<string, { readonly default?: unknown } | null>> | null;
}

function readManifest({ runs, inputs }: Content, directory: string): Manifest {
  const defaults = Object.entries(inputs ?? {}).map(([name, input]) => [name, String(input?.default ?? '')] as const);
  return { directory, main: runs.main, post: runs.post, inputs: new Map(defaults) };
}

/** Only the one expression that an action's defaults need is evaluated. */
export function evaluateDefault(written: string, token: string): string {
  const value = written.replaceAll(/\$\{\{\s*github\.token\s*\}\}/g, () => token);
  if (value.includes('${{')) throw new Error(`an expression that this runner does not evaluate: ${written}`);
  return value;
}
