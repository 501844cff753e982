import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

export type Manifest = ReturnType<typeof readManifest>;

const cache = new Map<string, Manifest>();

export function loadManifest(path = 'action.yml'): Manifest {
  const file = resolve(path);
  const manifest = cache.get(file) ?? readManifest(file);
  cache.set(file, manifest);
  return manifest;
}

function readManifest(file: string) {
  const { runs, inputs } = parse(readFileSync(file, 'utf8'));
  const given = Object.entries<{ readonly default?: unknown } | null>(inputs ?? {});
  const defaults = given.map(([name, input]) => [name, String(input?.default ?? '')] as const);
  const { main, post }: { readonly main: string; readonly post?: string } = runs;
  /** `inputs`: those declared, in their order, each with its default as written. */
  return { directory: dirname(file), main, post, inputs: new Map(defaults) };
}

/** Only the one expression that an action's defaults need is evaluated. */
export function evaluateDefault(written: string, token: string): string {
  const value = written.replaceAll(/\$\{\{\s*github\.token\s*\}\}/g, () => token);
  if (value.includes('${{')) throw new Error(`an expression that this runner does not evaluate: ${written}`);
  return value;
}
