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
  const known = cache.get(file);
  if (known !== undefined) return known;
  // A test validates the project's by GitHub's own schema.
  const { runs, inputs } = parse(readFileSync(file, 'utf8'));
  const given = Object.entries<{ readonly default?: unknown } | null>(inputs ?? {});
  const defaults = given.map(([name, input]) => [name, String(input?.default ?? '')] as const);
  const manifest = { directory: dirname(file), main: runs.main, post: runs.post, inputs: new Map(defaults) };
  cache.set(file, manifest);
  return manifest;
}

/** Only the one expression that an action's defaults need is evaluated. */
export function evaluateDefault(written: string, token: string): string {
  const value = written.replaceAll(/\$\{\{\s*github\.token\s*\}\}/g, () => token);
  if (value.includes('${{')) throw new Error(`an expression that this runner does not evaluate: ${written}`);
  return value;
}
