import { resolve } from 'node:path';
import type { ApiKey, Exchange, FaultRule } from '../control-plane/index.js';
import { type StepHandle, type StepOptions, type StepResult, startPost, startStep } from '../runner/step.js';
import type { Account, Made, Ran } from './account.js';
import type { Cell, Place } from './cell.js';
import { Gate } from './gate.js';
import { innerSignal, isOnAll, rulesOf } from './rules-of-blow.js';
import { parentKey, type RunningServices, startServices, token } from './services.js';
import type { Services, Setting, Subject } from './subject.js';

/** Milliseconds. */
const postTakes = 20_000;
export const usualTimeout = 10;
const beyondAll = 15_000;

/** Five tries with full jitter can take 15 seconds; with dice that always fall low they take half a second. */
const quickDice = preload('quick-dice');
const signalAt = preload('signal-at');

/** Few processes start at once: one that waits for its turn among many is late before it begins. */
const starts = new Gate(4);

/** Runs main and post of one cell, or of the clean run, in a world of their own. What comes back with it clears up. */
export async function runCell(subject: Subject, cell?: Cell): Promise<{ account: Account; dispose(): Promise<void> }> {
  const services = await startServices(subject);
  const run = new Run(subject, cell, services);
  const account = await run.play().catch(async (error: unknown) => {
    await run.dispose();
    throw error;
  });
  return { account, dispose: () => run.dispose() };
}

function preload(fixture: string): string[] {
  return ['--require', resolve(`test/scenarios/fixtures/${fixture}.cjs`)];
}

class Run {
  readonly #subject: Subject;
  readonly #cell: Cell | undefined;
  readonly #services: RunningServices;
  readonly #setting: Setting;
  readonly #others: ApiKey[];
  readonly #steps: StepHandle[] = [];

  constructor(subject: Subject, cell: Cell | undefined, services: RunningServices) {
    this.#subject = subject;
    this.#cell = cell;
    this.#services = services;
    this.#setting = subject.set(services);
    this.#others = services.control.plane.aliveKeys();
  }

  async play(): Promise<Account> {
    const { control, github } = this.#services;
    this.#addNearNames();
    this.#addFaults('main', this.#subject.inMain);
    const main = await this.#play('main', () => startStep(this.#options()));
    const aliveBetween = this.#made().filter(({ id }) => control.plane.isAlive(id));
    const post = this.#subject.hasPost ? await this.#playPost(main.result) : undefined;
    const { mayRevoke = [] } = this.#setting;
    const touched = this.#others.filter(({ id }) => !control.plane.isAlive(id) && !mayRevoke.includes(id));
    return {
      subject: this.#subject,
      setting: this.#setting,
      cell: this.#cell,
      main,
      post,
      made: this.#made().map((key) => this.#madeOf(key)),
      aliveBetween,
      harmed: touched.map(({ name }) => name),
      parentKey,
      secretsOfOthers: [...this.#others.map(({ key }) => key), token],
      askedOfGitHub: github.requests,
    };
  }

  async dispose(): Promise<void> {
    for (const step of this.#steps) {
      step.kill();
      (await step.done).dispose();
    }
    await this.#services.close();
  }

  async #playPost(main: StepResult): Promise<Ran> {
    const { faults } = this.#services.control;
    // Where all has gone wrong in main, it goes on to do so in post.
    const lasts = this.#cell?.place.stage === 'main' && isOnAll(this.#cell.blow);
    if (!lasts) faults.clear();
    this.#addFaults('post', this.#subject.inPost);
    const { inputs, ...options } = this.#options();
    const given = { ...inputs, ...this.#subject.inputsOfPost };
    return this.#play('post', () => startPost(main, { ...options, inputs: given, nodeArgs: [] }));
  }

  async #play(stage: Place['stage'], start: () => StepHandle): Promise<Ran> {
    const { control, github } = this.#services;
    const before = [...control.requests];
    const started = await starts.enter();
    const began = Date.now();
    const step = start();
    this.#steps.push(step);
    control.arrived({ n: before.length + 1 }).then(started, started);
    step.done.then(started, started);
    if (stage === 'main' && this.#subject.isKilled)
      control.arrived({ endpoint: 'create-key' }).then(
        () => step.kill(),
        () => undefined,
      );
    await this.#signal(stage, step, before, github.requests.length);
    const result = await step.done;
    const { timeout = usualTimeout } = this.#subject;
    return {
      stage,
      result,
      exchanges: control.requests.slice(before.length),
      began,
      deadline: stage === 'main' ? timeout * 1_000 : postTakes,
      signalled: this.#signalledAt(result),
    };
  }

  #signalledAt({ signals, lines }: StepResult): number | undefined {
    const blow = this.#cell?.blow;
    if (blow?.kind !== 'inner-signal') return signals[0]?.ms;
    return lines.find(({ stream, text }) => stream === 'stderr' && text === innerSignal(blow))?.ms;
  }

  async #signal(stage: Place['stage'], step: StepHandle, before: readonly Exchange[], asked: number): Promise<void> {
    const { place, blow } = this.#cell ?? {};
    if (place?.stage !== stage || blow?.kind !== 'signal') return;
    const { control, github } = this.#services;
    const { endpoint, nth } = place;
    if (endpoint === 'github') await reached(step, github.arrived({ n: asked + nth }));
    else {
      const awaited = { endpoint, n: before.filter((one) => one.endpoint === endpoint).length + nth };
      await reached(step, blow.when === 'answered' ? control.ended(awaited) : control.arrived(awaited));
    }
    step.kill(blow.signal);
  }

  #options(): StepOptions {
    const { control, github } = this.#services;
    const { timeout = usualTimeout } = this.#subject;
    const common = {
      'api-key': parentKey,
      'base-url': control.baseUrl,
      // Of a clean run, which shows what exchanges there are, no exchange is given up, however busy the machine is.
      'request-timeout': this.#cell === undefined ? '10s' : '1500ms',
      timeout: `${timeout}s`,
    };
    const blow = this.#cell?.blow;
    const inner = blow?.kind === 'inner-signal' ? blow : undefined;
    return {
      inputs: { ...common, ...this.#setting.inputs },
      env: { GITHUB_API_URL: github.url, ...(inner === undefined ? {} : { SIGNAL_AT: innerSignal(inner) }) },
      token,
      debug: true,
      nodeArgs: [...quickDice, ...(inner === undefined ? [] : signalAt)],
      limitMs: Math.max(postTakes, timeout * 1_000) + beyondAll,
    };
  }

  #addFaults(stage: Place['stage'], ofSubject: readonly FaultRule[] = []): void {
    const { control, github } = this.#services;
    const { place, blow } = this.#cell ?? {};
    if (place?.stage === stage && blow !== undefined) {
      if (blow.kind === 'github-fault')
        github.faults.add({ fault: blow.fault, ...(blow.often === 'once' ? { nth: place.nth } : { from: place.nth }) });
      else if (place.endpoint === 'github')
        github.faults.add({ fault: { kind: 'hang-before-headers' }, nth: place.nth });
      else for (const rule of rulesOf(place, place.endpoint, blow)) control.faults.add(rule);
    }
    for (const rule of ofSubject) control.faults.add(rule);
  }

  /** As soon as the name of its key is known, keys appear that have nearly the same. */
  #addNearNames(): void {
    const { control } = this.#services;
    control.arrived({ endpoint: 'create-key' }).then(
      ({ body }) => {
        const { key_name: name } = JSON.parse(body) as { key_name: string };
        const near = [`${name}0`, name.slice(0, -1), name.toUpperCase(), ` ${name}`];
        this.#others.push(...near.map((one) => control.plane.addKey(one)));
      },
      () => undefined,
    );
  }

  #made(): ApiKey[] {
    return keysEver(this.#services).filter((key) => !this.#others.includes(key));
  }

  #madeOf(key: ApiKey): Made {
    const { control } = this.#services;
    const creates = control.requests.filter(({ endpoint }) => endpoint === 'create-key');
    const wasAwaited = creates.some(
      ({ at, endedAt = Number.POSITIVE_INFINITY }) => at <= key.createdAt && key.createdAt <= endedAt,
    );
    return { key, isAlive: control.plane.isAlive(key.id), isLate: !wasAwaited };
  }
}

async function reached(step: StepHandle, event: Promise<unknown>): Promise<void> {
  const tooEarly = step.done.then(() => {
    throw new Error('the process ended before the exchange at which it was to be signalled');
  });
  await Promise.race([event, tooEarly]);
  tooEarly.catch(() => undefined);
}

function keysEver({ control: { plane } }: Services): ApiKey[] {
  const keys: ApiKey[] = [];
  const first = BigInt(plane.keyOfSecret(parentKey)?.id ?? 0);
  for (let id = first; ; id++) {
    const key = plane.key(String(id));
    if (key === undefined) return keys;
    keys.push(key);
  }
}
