import { join } from 'node:path';
import type { CommandFiles } from './command-files.js';
import type { Job } from './job.js';
import { evaluateDefault, type Manifest } from './manifest.js';
import type { StepOptions } from './step.js';

/** All that a process needs of the host. Windows starts none without its own variables. */
const FROM_HOST = ['PATH', 'HOME', 'SystemRoot', 'SystemDrive', 'windir', 'ComSpec', 'PATHEXT', 'USERPROFILE'];

const SYSTEMS: Readonly<Record<string, string>> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' };

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
  const env: Record<string, string | undefined> = {};
  for (const name of FROM_HOST) env[name] = process.env[name];
  Object.assign(env, job.env, own);
  for (const [name, written] of manifest.inputs) env[variable(name)] = evaluateDefault(written, token);
  const given = Object.entries(inputs).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) env[variable(name)] = String(value);
  for (const [name, value] of Object.entries(state)) env[`STATE_${name}`] = value;
  const ofRunner = variablesOfRunner(job, files);
  if (debug) ofRunner['RUNNER_DEBUG'] = '1';
  const replaced = Object.entries(own).filter(([name]) => name in ofRunner);
  Object.assign(env, ofRunner, Object.fromEntries(replaced));
  env['CI'] ??= 'true';
  for (const [name, value] of Object.entries(env)) if (value === undefined) delete env[name];
  const declared = new Set([...manifest.inputs.keys()].map(variable));
  const unexpected = given.map(([name]) => name).filter((name) => !declared.has(variable(name)));
  return { env: env as Readonly<Record<string, string>>, unexpected };
}

const variable = (input: string): string => `INPUT_${input.replaceAll(' ', '_').toUpperCase()}`;

function variablesOfRunner(job: Job, files: CommandFiles): Record<string, string> {
  return {
    ACTIONS_RUNTIME_TOKEN: 'the-runtime-token-of-this-job',
    ACTIONS_RUNTIME_URL: 'https://pipelines.actions.githubusercontent.com/',
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: 'https://api.github.com',
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_REPOSITORY_ID: '123456789',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_RUN_ID: '9876543210',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_SHA: '0123456789abcdef0123456789abcdef01234567',
    GITHUB_WORKSPACE: job.workspace,
    GITHUB_OUTPUT: files.output,
    GITHUB_STATE: files.state,
    GITHUB_ENV: files.env,
    GITHUB_ARTIFACTS: files.artifacts,
    GITHUB_ARTIFACTS_LIST: files.artifactsList,
    GITHUB_PATH: files.path,
    GITHUB_STEP_SUMMARY: files.summary,
    RUNNER_ARCH: process.arch.toUpperCase(),
    RUNNER_ENVIRONMENT: 'self-hosted',
    RUNNER_NAME: 'stand-in',
    RUNNER_OS: SYSTEMS[process.platform] ?? 'Linux',
    RUNNER_TEMP: job.temp,
    RUNNER_TOOL_CACHE: join(job.root, 'tool-cache'),
    RUNNER_TRACKING_ID: 'github_stand-in',
    RUNNER_WORKSPACE: job.root,
  };
}
