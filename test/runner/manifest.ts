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

/** As far as a sound action.yml goes: a test validates the project's by GitHub's own schema. */
interface Content {
  readonly runs: { readonly main: string; readonly post?: string };
  readonly inputs?: Readonly<Record<string, { readonly default?: unknown } | null>> | null;
}

export function loadManifest(path = 'action.yml'): Manifest {
  const file = resolve(path);
  const known = cache.get(file);
  if (known !== undefined) return known;
  const { runs, inputs }: Content = parse(readFileSync(file, 'utf8'));
  const defaults = Object.entries(inputs ?? {}).map(([name, input]) => [name, String(input?.default ?? '')] as const);
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
