import { appendFileSync } from 'node:fs';
import { vi } from 'vitest';
import { Secrets } from '../../src/action/secrets.js';
import { toolkit } from '../../src/action/toolkit.js';
import type { HttpRequest, HttpResponse } from '../../src/http/exchange.js';
import { PostStep } from '../../src/modes/post/step.js';
import type { WorkflowRuns } from '../../src/modes/sweep-keys/run-lookups.js';
import type { World } from '../../src/process.js';
import { reportError, runStep } from '../../src/step.js';
import { Cancellation } from '../../src/time/deadline.js';
import { seededRandom } from '../control-plane/random.js';
import { type CommandFiles, createCommandFiles } from '../runner/command-files.js';
import { buildEnvironment, type Inputs } from '../runner/environment.js';
import { type FileEffects, takeFiles } from '../runner/file-effects.js';
import { Job } from '../runner/job.js';
import { loadManifest } from '../runner/manifest.js';
import { Masker } from '../runner/masker.js';
import { StepLog } from '../runner/step-log.js';
import { VirtualClock } from '../virtual/clock.js';

export const apiKey = 'parent-key-0123456789abcdef';
export const projectId = 'late-field-1';

/** What the service says to a request; `n` counts from 0. */
export type Service = (request: HttpRequest, n: number) => Partial<HttpResponse>;

/** What a user could see of a step. */
export interface Told extends FileEffects, Pick<StepLog, 'annotations' | 'commands' | 'masks'> {
  readonly succeeded: boolean;
  /** Each as it was written. */
  readonly lines: readonly { readonly text: string }[];
}

/** Milliseconds of the clock. */
const anExchange = 50;
const manifest = loadManifest();
/** Its folders serve all steps: to make and to remove them would take longer than a step. */
const job = new Job();

/** Main in this process and in virtual time, with the toolkit of the action: what it prints and writes is read as the runner does. */
export function step(inputs: Inputs, service: Service, env: Env = {}, runs?: WorkflowRuns): Promise<Told> {
  const given = { 'api-key': apiKey, 'base-url': 'https://control.test/v2', timeout: '20s', ...inputs };
  return tellOf('main', { inputs: given, state: {}, env }, service, (world) =>
    runStep(world, async () => () => runs ?? { find: () => Promise.reject(new Error('nobody was to be asked')) }).catch(
      (error: unknown) => reportError(error, world),
    ),
  );
}

/** Post, with what main has left. */
export function post(left: string, service: Service): Promise<Told> {
  return tellOf('post', { inputs: { 'api-key': apiKey }, state: { key: left }, env: {} }, service, (world) => {
    const cleanUp = new PostStep();
    return cleanUp.run(world).catch((error: unknown) => cleanUp.reportError(error, world));
  });
}

type Env = Readonly<Record<string, string | undefined>>;

interface Given {
  readonly inputs: Inputs;
  readonly state: Readonly<Record<string, string>>;
  readonly env: Env;
}

async function tellOf(
  stage: 'main' | 'post',
  { inputs, state, env: own }: Given,
  service: Service,
  work: (world: World) => Promise<boolean>,
): Promise<Told> {
  const files = createCommandFiles(job.temp);
  const { env } = buildEnvironment({ manifest, job, files, inputs, state, token: 'token', debug: true, own });
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  let printed = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  const clock = new VirtualClock();
  const succeeded = await clock.run(work(worldOf(files, service, clock))).finally(() => {
    write.mockRestore();
    vi.unstubAllEnvs();
  });
  const log = new StepLog(new Masker(), true);
  const lines = printed.split(/\r\n|\n|\r/);
  for (const line of lines) log.take(line);
  const { annotations, commands, masks } = log;
  const effects = takeFiles(files, log, job, stage);
  return { ...effects, succeeded, annotations, commands, masks, lines: lines.map((text) => ({ text })) };
}

function worldOf({ summary }: CommandFiles, service: Service, clock: VirtualClock): World {
  let n = 0;
  return {
    // The real one keeps the path of the first step's summary for good, as a process has one.
    toolkit: { ...toolkit, summary: async (markdown) => appendFileSync(summary, markdown) },
    secrets: new Secrets(toolkit.mask),
    environment: process.env,
    exchange: (request, onStop) =>
      new Promise((resolve) => {
        const answer = { status: 200, headers: {}, body: '', ...service(request, n++) };
        onStop(clock.schedule(clock.now() + anExchange, () => resolve(answer)));
      }),
    clock,
    random: seededRandom(1),
    isReported: () => false,
    cancellation: new Cancellation(),
  };
}
