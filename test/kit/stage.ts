import { type TestContext, test } from 'vitest';
import type { OperationPlan, RunningControlPlane, ServedControlPlaneOptions } from '../../control-plane/index.js';
import { createControlPlane, startControlPlane, systemClock } from '../../control-plane/index.js';
import { seededRandom } from '../../control-plane/random.js';
import { RequestError } from '../../src/http/errors.js';
import type { Exchange, HttpRequest, HttpResponse } from '../../src/http/exchange.js';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { Job } from '../runner/job.js';
import { startPost as postOf, type StepHandle, type StepOptions, type StepResult, startStep } from '../runner/step.js';
import { VirtualClock } from '../virtual/clock.js';
import { type Trip, virtualNetwork } from '../virtual/network.js';
import { tenSecondsLater } from './preload.js';
import { spawnVirtual } from './virtual-step.js';
import { FakeWorkflowRuns } from './workflow-runs.js';

export interface StageOptions extends ServedControlPlaneOptions {
  /** The built bundle runs as a process, and talks to a server on the loopback interface. Default: in virtual time. */
  readonly overSockets?: boolean;
  readonly trip?: Trip | undefined;
  /** A function tells it for main and for post. */
  readonly clockAheadMs?: number | ((part: 'main' | 'post') => number);
  /** All steps run in the folders of one job. Folders for each of hundreds of steps would take longer than the steps. */
  readonly oneJob?: boolean;
  /** Virtual: the test responds in place of the control plane. `path` is what follows `/v2/`; `n` counts from 1. */
  readonly respond?: (path: string, n: number, request: HttpRequest) => string | Partial<HttpResponse>;
}

type Step = [inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>];
type StartMode = (mode: string, ...step: Step) => StepHandle;
export type Stage = Awaited<ReturnType<typeof setStage>>;

export const repositoryId = '123456789';
export const ours = repositoryFingerprint('https://github.com', repositoryId);
export const hour = 3_600_000;
export const day = 24 * hour;

/** A control plane with one project and the key 1, a GitHub, and steps of the action against them. */
export async function setStage({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, options: StageOptions = {}) {
  const { overSockets = false, oneJob = false, clockAheadMs = 0, ...more } = options;
  const { trip, respond, ...ofService } = more;
  const ownPaths: string[] = [];
  const ownExchange: Exchange | undefined =
    respond &&
    (async (request) => {
      const { url } = request;
      const path = url.pathname.replace(/^\/v2\//, '') + url.search;
      const response = respond(path, ownPaths.push(path), request);
      const headers = { 'content-type': 'application/json' };
      return { status: 200, headers, body: '', ...(typeof response === 'string' ? { body: response } : response) };
    });
  const elsewhere: HttpRequest[] = [];
  const serviceOptions = { projects: 1, operations: 3, ...ofService };
  const clock = new VirtualClock();
  const runs = new FakeWorkflowRuns((ms) => clock.sleep(ms));
  const virtual = overSockets ? undefined : createControlPlane({ ...serviceOptions, clock: clock.service });
  const open = ({ plane, exchanges, ...more }: ReturnType<typeof createControlPlane>): RunningControlPlane => {
    const { apiKey, projectIds } = plane;
    const baseUrl = 'https://control.test/v2';
    return { plane, ...more, apiKey, projectIds, baseUrl, close: async () => exchanges.close() };
  };
  let laterMs = 0;
  const movable = { ...systemClock, now: () => systemClock.now() + laterMs };
  const service =
    virtual === undefined ? await startControlPlane({ clock: movable, ...serviceOptions }) : open(virtual);
  let spawned = 0;
  const startVirtual: StepOptions['spawn'] =
    virtual &&
    ((child, part) => {
      const connection = virtualNetwork(virtual.exchanges, clock, trip);
      const toService: Exchange = async (request, onCancel) => {
        if (request.url.origin === new URL(service.baseUrl).origin) return connection(request, onCancel);
        elsewhere.push(request);
        throw new RequestError('Unknown host', { mayHaveTakenEffect: false });
      };
      // Each process draws numbers of its own, so that no two steps make the same name of a key.
      const random = seededRandom((options.seed ?? 1) + spawned++);
      const ahead = typeof clockAheadMs === 'function' ? clockAheadMs(part) : clockAheadMs;
      const exchange = ownExchange ?? toService;
      return spawnVirtual(child, part, { clock, exchange, runs, random, clockAheadMs: ahead });
    });
  onTestFinished(() => service.close());
  const own = new Job();
  onTestFinished(() => own.dispose());
  const projectId = service.projectIds[0] ?? '';
  const end = (handle: StepHandle): StepHandle => {
    onTestFinished(async () => {
      handle.kill();
      (await handle.done).job.dispose();
    });
    return handle;
  };
  // The bundle runs on several versions of Node, the tests on one.
  const common: StepOptions = {
    limitMs: overSockets ? 35_000 : 30_000,
    node: process.env['NODE_OF_BUNDLE'],
    spawn: startVirtual,
    now: virtual && (() => clock.now()),
    job: oneJob ? own : undefined,
  };
  const startMode: StartMode = (mode, inputs, more) => {
    if (!overSockets && more?.nodeArgs !== undefined) throw new Error('nodeArgs need `overSockets`.');
    const access = { 'api-key': service.apiKey, 'base-url': service.baseUrl };
    return end(startStep({ ...common, ...more, inputs: { mode, ...access, ...inputs } }));
  };
  const startPost = (from: StepResult, more?: StepOptions) => {
    const given: StepOptions = { limitMs: 30_000, ...more };
    if (!overSockets) return end(postOf(from, given));
    // Post waits until a key is 10 s old, by both clocks.
    laterMs = 10_000;
    return end(
      postOf(from, { ...given, nodeArgs: [...(given.nodeArgs ?? from.options.nodeArgs ?? []), ...tenSecondsLater] }),
    );
  };
  const { plane } = service;
  const beganAt = plane.clock.now();
  /** By default, a key is old enough for a run that is not found to count. */
  const addNamed = (name: string, ageMs = day) => plane.addKeyOfAge(name, ageMs).id;
  /** Adds a key as create-key makes it in that run. GitHub finds no run unless the test adds one. */
  const addKey = (id: string, { attempt = 1, fingerprint = ours, ageMs = day + hour, isKept = false } = {}) =>
    addNamed(makeKeyName('shop', { run: { id, attempt, fingerprint }, isKept }, Math.random), ageMs);
  return {
    service,
    /** Virtual: requests to other hosts than the service's. They get no response. */
    elsewhere,
    /** The runs that GitHub knows. Over sockets a test brings its own GitHub. */
    runs,
    projectId,
    folder: own.root,
    ...mainSteps(startMode, projectId),
    startPost,
    runPost: (from: StepResult, more?: StepOptions) => startPost(from, more).done,
    /** Starts an operation, in the first project if the plan names none. */
    operation: (plan?: OperationPlan & { readonly projectId?: string }) => plane.startOperation({ projectId, ...plan }),
    addNamed,
    addKey,
    addKeys: (count: number) => Array.from({ length: count }, () => addKey('11')),
    aliveIds: () => plane.aliveKeys().map(({ id }) => id),
    deletes: () => service.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path),
    /** Path and query of each request, without `/v2/`. */
    paths: () => [...ownPaths, ...service.requests.map(({ path }) => path.replace(/^\/v2\//, ''))],
    /** When each request arrived, in milliseconds since the start of the stage. */
    times: () => service.requests.map(({ at }) => at - beganAt),
    /** Virtual: acts so many milliseconds from now. */
    after: (ms: number, act: () => void) => void clock.schedule(clock.now() + ms, act),
    /** Virtual: lets time pass while no step runs. */
    pass: (ms: number) => clock.run(clock.sleep(ms)),
  };
}

/** Tests that take a `stage` without options. */
export const staged = test.extend<{ stage: Stage }>({
  stage: async ({ onTestFinished }, use) => use(await setStage({ onTestFinished })),
});

export function setProcess(context: TestContext, options: StageOptions = {}): Promise<Stage> {
  return setStage(context, { overSockets: true, ...options });
}

/** For steps that need no operation that exists. */
export const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };

/** The ways to run a main step; without a name of its mode it is one of `wait-operation` in the project. */
export function mainSteps(startMode: StartMode, projectId: string) {
  const start = (...[inputs, more]: Step) => startMode('wait-operation', { 'project-id': projectId, ...inputs }, more);
  return {
    start,
    run: (...step: Step) => start(...step).done,
    startMode,
    runMode: (mode: string, ...step: Step) => startMode(mode, ...step).done,
    revoke: (...step: Step) => startMode('revoke-key', ...step).done,
    startSweep: (...step: Step) => startMode('sweep-keys', ...step),
    sweep: (...step: Step) => startMode('sweep-keys', ...step).done,
  };
}

export function errorOf(result: StepResult): string {
  const errors = messagesOf(result, 'error');
  if (errors.length !== 1) throw new Error(`expected one error, found ${errors.length}:\n${result.log}`);
  return errors[0] ?? '';
}

export const resultFileOf = ({ outputs, readFile }: StepResult): string => readFile(outputs['result-file'] ?? '');

export const warningsOf = (result: StepResult): string[] => messagesOf(result, 'warning');

export const noticesOf = (result: StepResult): string[] => messagesOf(result, 'notice');

function messagesOf({ annotations }: StepResult, wanted: 'error' | 'warning' | 'notice'): string[] {
  return annotations.filter(({ kind, source }) => kind === wanted && source === 'action').map(({ message }) => message);
}

/** The output of a step without its mask commands. A secret may occur only in those. */
export const withoutMasks = (output: string): string => output.replace(/^::add-mask::.*$/gm, '');
