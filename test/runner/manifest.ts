import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';

export interface Manifest {
  readonly directory: string;
  readonly main: string;
  readonly post: string | undefined;
  /** Declared inputs in their order, each with its default as written. */
  readonly inputs: ReadonlyMap<string, string>;
}

const RUNS_KEYS = new Set(['using', 'main', 'pre', 'pre-if', 'post', 'post-if']);
const OUTPUT_KEYS = new Set(['description', 'value']);
const RUNTIMES = new Set(['node12', 'node16', 'node20', 'node24']);

const cache = new Map<string, Manifest>();

/** Reads an action.yml by the runner's own schema, which refuses what it does not know in `runs` and in outputs. */
export function loadManifest(path: string = projectManifest()): Manifest {
  const file = resolve(path);
  const known = cache.get(file);
  if (known) return known;
  const manifest = readManifest(parse(readFileSync(file, 'utf8')), dirname(file));
  cache.set(file, manifest);
  return manifest;
}

export function readManifest(content: unknown, directory: string): Manifest {
  const root = mapping(content, 'action.yml');
  const runs = mapping(root['runs'], 'runs');
  refuseUnknown(runs, RUNS_KEYS, 'runs');
  for (const [name, output] of Object.entries(mapping(root['outputs'] ?? {}, 'outputs'))) {
    refuseUnknown(mapping(output, `outputs.${name}`), OUTPUT_KEYS, `outputs.${name}`);
  }
  if (!RUNTIMES.has(text(runs['using'], 'runs.using'))) throw new Error(`runs.using: '${runs['using']}' is no runtime`);
  const inputs = new Map<string, string>();
  for (const [name, input] of Object.entries(mapping(root['inputs'] ?? {}, 'inputs'))) {
    const fallback = mapping(input, `inputs.${name}`)['default'];
    inputs.set(name, fallback === undefined || fallback === null ? '' : scalar(fallback, `inputs.${name}.default`));
  }
  refuseExpressions(root, []);
  return {
    directory,
    main: text(runs['main'], 'runs.main'),
    post: runs['post'] === undefined ? undefined : text(runs['post'], 'runs.post'),
    inputs,
  };
}

/** Only the one expression that an action's defaults need is evaluated. */
export function evaluateDefault(written: string, token: string): string {
  const value = written.replaceAll(/\$\{\{\s*github\.token\s*\}\}/g, () => token);
  if (/\$\{\{/.test(written.replaceAll(/\$\{\{\s*github\.token\s*\}\}/g, ''))) {
    throw new Error(`an expression that this runner does not evaluate: ${written}`);
  }
  return value;
}

function projectManifest(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'action.yml');
    if (existsSync(candidate)) return candidate;
    if (dirname(folder) === folder) throw new Error('no action.yml in any folder above the runner');
  }
}

/** The runner takes `${{` for an expression in every text, descriptions too, and allows it in defaults alone. */
function refuseExpressions(value: unknown, path: readonly string[]): void {
  if (typeof value === 'string') {
    const isDefault = path.length === 3 && path[0] === 'inputs' && path[2] === 'default';
    if (value.includes('${{') && !isDefault) throw new Error(`${path.join('.')}: an expression is not allowed here`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) refuseExpressions(item, [...path, key]);
  }
}

function refuseUnknown(value: Record<string, unknown>, known: ReadonlySet<string>, place: string): void {
  for (const key of Object.keys(value)) {
    if (!known.has(key)) throw new Error(`${place}: unexpected key '${key}'`);
  }
}

function mapping(value: unknown, place: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${place}: not a mapping`);
  return { ...value };
}

function scalar(value: unknown, place: string): string {
  if (typeof value === 'object') throw new Error(`${place}: not a scalar`);
  return String(value);
}

function text(value: unknown, place: string): string {
  if (typeof value !== 'string' || value === '') throw new Error(`${place}: a text is missing`);
  return value;
}
