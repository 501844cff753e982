import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { CommandFiles } from './command-files.js';
import type { Job } from './job.js';
import type { StepOptions } from './step.js';

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

/** All that a process needs of the host. Windows starts none without its own variables. */
const FROM_HOST = ['PATH', 'HOME', 'SystemRoot', 'SystemDrive', 'windir', 'ComSpec', 'PATHEXT', 'USERPROFILE'];

interface EnvironmentParts extends Pick<StepOptions, 'inputs' | 'env' | 'debug'> {
  readonly token: string;
  readonly manifest: Manifest;
  readonly job: Job;
  readonly files: CommandFiles;
  readonly state: Readonly<Record<string, string>>;
}

/** Also gives back the given inputs that action.yml does not declare. */
export function buildEnvironment(parts: EnvironmentParts) {
  const { inputs = {}, env: own = {}, debug, token, manifest, job, files, state } = parts;
  const given = Object.entries(inputs).filter(([, value]) => value !== undefined);
  // Of all expressions, a default needs this one.
  const defaultOf = (written: string) => written.replaceAll(/\$\{\{\s*github\.token\s*\}\}/g, () => token);
  const ofRunner: Record<string, string> = {
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: 'https://api.github.com',
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_REPOSITORY_ID: '123456789',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_RUN_ID: '9876543210',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_WORKSPACE: job.workspace,
    GITHUB_OUTPUT: files.output,
    GITHUB_STATE: files.state,
    GITHUB_STEP_SUMMARY: files.summary,
    RUNNER_TEMP: job.temp,
    ...(debug && { RUNNER_DEBUG: '1' }),
  };
  const env = Object.entries({
    CI: 'true',
    ...Object.fromEntries(FROM_HOST.map((name) => [name, process.env[name]])),
    ...job.env,
    ...own,
    ...Object.fromEntries([...manifest.inputs].map(([name, written]) => [variable(name), defaultOf(written)])),
    ...Object.fromEntries(given.map(([name, value]) => [variable(name), String(value)])),
    ...Object.fromEntries(Object.entries(state).map(([name, value]) => [`STATE_${name}`, value])),
    ...ofRunner,
    ...Object.fromEntries(Object.entries(own).filter(([name]) => name in ofRunner)),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const declared = new Set([...manifest.inputs.keys()].map(variable));
  const unexpected = given.map(([name]) => name).filter((name) => !declared.has(variable(name)));
  return { env: Object.fromEntries(env), unexpected };
}

const variable = (input: string): string => `INPUT_${input.replaceAll(' ', '_').toUpperCase()}`;
