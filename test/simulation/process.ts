import { existsSync, readFileSync, unlinkSync } from 'node:fs';
import { Secrets } from '../../src/action/secrets.js';
import type { Toolkit } from '../../src/action/toolkit.js';
import type { Work, World } from '../../src/process.js';
import { Cancellation } from '../../src/time/deadline.js';
import type { Interruption, RunnerFault } from './plan.js';
import type { ProcessRecord, Sent, Word, WordKind } from './record.js';
import type { Stage } from './stage.js';

/** Who sends more does not wait at all, and time would never pass. */
const mostRequests = 20_000;

export interface ProcessPlan {
  readonly part: ProcessRecord['part'];
  readonly step: number;
  readonly work: Work;
  readonly inputs: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly random: () => number;
  readonly interruption: Interruption | undefined;
  readonly runnerFault: RunnerFault | undefined;
  /** Milliseconds that the runner's clock is ahead of the service's. */
  readonly clockAheadMs: number;
  /** When it counts as hung; milliseconds of the run. */
  readonly patience: number;
}

/** One process of the action from its start to its end, as `src/process.ts` makes one of the real world. */
export function runProcess(stage: Stage, plan: ProcessPlan): Promise<ProcessRecord> {
  return new Process(stage, plan).run();
}

class Process {
  readonly #stage: Stage;
  readonly #plan: ProcessPlan;
  readonly #record: ProcessRecord;
  readonly #cancel = new Cancellation();
  readonly #underWay = new Set<() => void>();
  readonly #counts = { request: 0, answer: 0, word: 0 };
  readonly #refused = new Map<string, number>();
  readonly #world: World;
  #faultsMet = 0;
  #isOver = false;
  #told = false;
  #ended: () => void = () => undefined;

  constructor(stage: Stage, plan: ProcessPlan) {
    this.#stage = stage;
    this.#plan = plan;
    this.#record = {
      part: plan.part,
      step: plan.step,
      startedAt: stage.now,
      sent: [],
      words: [],
      endedAt: Number.NaN,
      exit: 1,
      signalledAt: undefined,
      crash: undefined,
      resultFile: undefined,
      runnerFailed: false,
    };
    this.#world = this.#makeWorld();
  }

  async run(): Promise<ProcessRecord> {
    const { work, interruption, patience } = this.#plan;
    const end = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    const forget = this.#stage.clock.schedule(patience, () => this.#end('hung'));
    if (interruption?.moment.on === 'time')
      this.#stage.clock.schedule(this.#stage.now + interruption.moment.ms, () => this.#interrupt());
    work.run(this.#world).then(
      (succeeded) => this.#leave(succeeded),
      (error: unknown) => this.#crash(error),
    );
    await end;
    forget();
    return this.#record;
  }

  #makeWorld(): World {
    const { clock } = this.#stage;
    const began = this.#stage.now;
    const toolkit = this.#makeToolkit();
    const carry = this.#stage.connect((sent) => this.#record.sent.push(sent));
    return {
      toolkit,
      secrets: new Secrets(toolkit.mask),
      environment: this.#plan.environment,
      random: this.#plan.random,
      isReported: () => this.#told,
      cancellation: this.#cancel,
      clock: {
        now: () => clock.now() - began,
        epochMs: () => clock.epochMs() + this.#plan.clockAheadMs,
        schedule: (time, call) => clock.schedule(time + began, () => this.#guarded(call)),
      },
      exchange: async (request, onStop) => {
        if (this.#isOver) return never();
        if (this.#record.sent.length >= mostRequests) this.#end('hung');
        const carrying = carry(request, (giveUp) => {
          this.#underWay.add(giveUp);
          onStop(giveUp);
        });
        this.#strike('request');
        this.#watchForFault(this.#record.sent.at(-1));
        const outcome = await carrying.then(
          (answer) => () => answer,
          (error: unknown) => () => {
            throw error;
          },
        );
        this.#strike('answer');
        return this.#isOver ? never() : outcome();
      },
    };
  }

  /** A timer that throws is what Node calls an uncaught exception. */
  #guarded(call: () => void): void {
    if (this.#isOver) return;
    try {
      call();
    } catch (error) {
      void this.#crash(error);
    }
  }

  async #crash(error: unknown): Promise<void> {
    if (this.#told || this.#isOver) return;
    this.#told = true;
    this.#record.crash = String(error instanceof Error ? error.stack : error);
    const { work } = this.#plan;
    this.#end(
      (await work.reportError(error, this.#world).catch((untold: unknown) => {
        this.#world.toolkit.error(`Could not report the result of the step: ${untold}`);
        return false;
      }))
        ? 0
        : 1,
    );
  }

  #leave(succeeded: boolean): void {
    if (this.#told) return;
    this.#told = true;
    // The one rule of the exit code: green only where the work says so.
    this.#end(succeeded ? 0 : 1);
  }

  #end(exit: ProcessRecord['exit']): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#record.exit = exit;
    this.#record.endedAt = this.#stage.now;
    const path = this.#record.words.findLast(({ kind, name }) => kind === 'output' && name === 'result-file')?.text;
    if (path !== undefined && existsSync(path)) {
      this.#record.resultFile = readFileSync(path, 'utf8');
      unlinkSync(path);
    }
    // Its sockets are gone with it.
    for (const giveUp of this.#underWay) giveUp();
    this.#ended();
  }

  #strike(on: 'request' | 'answer' | 'word'): void {
    const nth = ++this.#counts[on];
    const { interruption } = this.#plan;
    if (interruption?.moment.on === on && interruption.moment.nth === nth) this.#interrupt();
  }

  /** A request that hangs is of interest while it hangs. */
  #watchForFault(sent: Sent | undefined): void {
    const { interruption } = this.#plan;
    if (interruption?.moment.on !== 'fault' || sent === undefined) return;
    const { nth, ms } = interruption.moment;
    const { clock, tripMs } = this.#stage;
    clock.schedule(clock.now() + tripMs, () => {
      if (this.#stage.faultMetBy(sent) === undefined || ++this.#faultsMet !== nth) return;
      clock.schedule(clock.now() + ms, () => this.#interrupt());
    });
  }

  #interrupt(): void {
    if (this.#isOver) return;
    if (this.#plan.interruption?.what === 'kill') {
      this.#end('killed');
      return;
    }
    const { clock } = this.#stage;
    // A signal waits for its turn, as in Node.
    clock.schedule(clock.now(), () =>
      this.#guarded(() => {
        this.#record.signalledAt ??= this.#stage.now;
        this.#plan.work.onSignal(this.#cancel);
      }),
    );
  }

  #makeToolkit(): Toolkit {
    const say = (kind: WordKind, name: string, text: string): void => {
      this.#strike('word');
      if (this.#isOver) return;
      this.#refuse(kind, name);
      this.#record.words.push({ at: this.#stage.now, kind, name, text } satisfies Word);
    };
    return {
      input: (name) => this.#plan.inputs[name] ?? '',
      mask: (secret) => say('mask', '', secret),
      info: (line) => say('info', '', line),
      notice: (message) => say('notice', '', message),
      warning: (message) => say('warning', '', message),
      error: (message) => say('error', '', message),
      debug: (line) => say('debug', '', line),
      output: (name, value) => say('output', name, value),
      state: (name, value) => say('state', name, value),
      variable: (name, value) => say('variable', name, value),
      summary: async (markdown) => say('summary', '', markdown),
    };
  }

  #refuse(kind: WordKind, name: string): void {
    const { runnerFault } = this.#plan;
    if (runnerFault?.word !== kind) return;
    const times = (this.#refused.get(kind) ?? 0) + 1;
    this.#refused.set(kind, times);
    if (times < runnerFault.from) return;
    this.#record.runnerFailed = true;
    throw new Error(`ENOSPC: no space left on device, write (${kind} ${name})`);
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
