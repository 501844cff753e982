import { existsSync, readFileSync, unlinkSync } from 'node:fs';
import type { Toolkit } from '../../src/action/toolkit.js';
import type { Exchange as SendRequest } from '../../src/http/exchange.js';
import type { Work } from '../../src/process.js';
import { VirtualProcess } from '../kit/virtual-process.js';
import type { VirtualClock } from '../virtual/clock.js';
import type { Interruption, RunnerFault } from './plan.js';
import { type MessageKind, newRecord, output, type ProcessRecord, type SentRequest } from './record.js';
import type { Stage } from './stage.js';

/** A process that sends more does not wait at all, and virtual time would not pass. */
const maxRequests = 20_000;

export interface ProcessPlan {
  readonly part: ProcessRecord['part'];
  readonly work: Work;
  readonly inputs: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly random: () => number;
  readonly interruption: Interruption | undefined;
  readonly runnerFault: RunnerFault | undefined;
  readonly clockAheadMs: number;
  readonly limitMs: number;
}

/** Runs one process of the action, interrupts it as planned, and records what it sends and says. */
export async function runProcess(stage: Stage, clock: VirtualClock, plan: ProcessPlan): Promise<ProcessRecord> {
  const { work, interruption, runnerFault } = plan;
  const record = newRecord(plan.part, stage.now);
  const counts = { request: 0, response: 0, message: 0, fault: 0, rejected: 0 };

  const interrupt = () => (interruption?.what === 'kill' ? running.kill() : running.signal());
  const count = (on: 'request' | 'response' | 'message') => {
    counts[on]++;
    if (interruption?.moment.on === on && interruption.moment.nth === counts[on]) interrupt();
  };
  const send = stage.connect(clock, (sent) => record.sent.push(sent));
  const exchange: SendRequest = async (request, onCancel) => {
    if (record.sent.length >= maxRequests) running.kill('hung');
    const response = send(request, onCancel);
    count('request');
    watchForFault(record.sent.at(-1));
    try {
      return await response;
    } finally {
      if (!running.isOver) count('response');
    }
  };
  const watchForFault = (sent: SentRequest | undefined) => {
    if (interruption?.moment.on !== 'fault' || sent === undefined) return;
    const { nth, ms } = interruption.moment;
    clock.schedule(clock.now() + stage.tripMs, () => {
      if (stage.faultOf(sent) !== undefined && ++counts.fault === nth) clock.schedule(clock.now() + ms, interrupt);
    });
  };
  const message = (kind: MessageKind, name: string, text: string) => {
    count('message');
    if (running.isOver) return;
    if (runnerFault?.kind === kind && ++counts.rejected >= runnerFault.from) {
      record.runnerFailed = true;
      throw new Error(`ENOSPC: no space left on device, write (${kind} ${name})`);
    }
    record.messages.push({ at: stage.now, kind, name, text });
  };

  const running = new VirtualProcess({
    clock,
    exchange,
    toolkit: createToolkit(plan.inputs, message),
    environment: plan.environment,
    random: plan.random,
    clockAheadMs: plan.clockAheadMs,
    limitMs: plan.limitMs,
    work: {
      ...work,
      onSignal: (cancellation) => {
        record.signalledAt ??= stage.now;
        work.onSignal(cancellation);
      },
    },
  });
  if (interruption?.moment.on === 'time') clock.schedule(stage.now + interruption.moment.ms, interrupt);
  record.exit = await running.ended;
  record.endedAt = stage.now;
  record.crash = running.crash;
  record.resultFile = takeResultFile(record);
  return record;
}

/** Each run writes thousands of files, so they are removed at once. */
function takeResultFile(record: ProcessRecord): string | undefined {
  const path = output(record, 'result-file');
  if (path === undefined || !existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  unlinkSync(path);
  return text;
}

function createToolkit(
  inputs: Readonly<Record<string, string>>,
  message: (kind: MessageKind, name: string, text: string) => void,
): Toolkit {
  const print = (kind: MessageKind) => (text: string) => message(kind, '', text);
  const write = (kind: MessageKind) => (name: string, text: string) => message(kind, name, text);
  return {
    input: (name) => inputs[name] ?? '',
    mask: print('mask'),
    info: print('info'),
    notice: print('notice'),
    warning: print('warning'),
    error: print('error'),
    debug: print('debug'),
    output: write('output'),
    state: write('state'),
    variable: write('variable'),
    summary: async (markdown) => message('summary', '', markdown),
  };
}
