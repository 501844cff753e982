import { existsSync, readFileSync, unlinkSync } from 'node:fs';
import type { Toolkit } from '../../src/action/toolkit.js';
import type { Exchange as SendRequest } from '../../src/http/exchange.js';
import { VirtualProcess, type VirtualProcessOptions } from '../kit/virtual-process.js';
import type { VirtualClock } from '../virtual/clock.js';
import type { Interruption, Moment, RunnerFault } from './plan.js';
import { type MessageKind, ProcessRecord } from './record.js';
import type { Stage } from './stage.js';

/** A process that sends more does not wait at all, and virtual time would not pass. */
const maxRequests = 20_000;

export interface ProcessPlan extends Omit<VirtualProcessOptions, 'clock' | 'exchange' | 'toolkit'> {
  readonly part: ProcessRecord['part'];
  readonly inputs: Readonly<Record<string, string>>;
  readonly interruption: Interruption | undefined;
  readonly runnerFault: RunnerFault | undefined;
}

/** Calls `interrupt` at the planned moment. The returned function counts the events of the process. */
export function awaitMoment(
  { moment }: Partial<Interruption> = {},
  clock: Pick<VirtualClock, 'now' | 'schedule'>,
  interrupt: () => void,
): (event: Moment['on']) => void {
  let count = 0;
  if (moment?.on === 'time') clock.schedule(clock.now() + moment.ms, interrupt);
  return (event) => {
    if (moment === undefined || moment.on !== event || moment.on === 'time' || ++count !== moment.nth) return;
    if (moment.on === 'fault') clock.schedule(clock.now() + moment.ms, interrupt);
    else interrupt();
  };
}

/** Runs one process of the action, interrupts it as planned, and records what it sends and says. */
export async function runProcess(stage: Stage, clock: VirtualClock, plan: ProcessPlan): Promise<ProcessRecord> {
  const { work, interruption, runnerFault } = plan;
  const record = new ProcessRecord(plan.part, stage.now);
  let rejected = 0;
  const interrupt = () => (interruption?.what === 'kill' ? running.kill() : running.signal());
  const count = awaitMoment(interruption, clock, interrupt);
  const send = stage.connect(clock, (sent) => record.sent.push(sent));
  const exchange: SendRequest = async (request, onCancel) => {
    if (record.sent.length >= maxRequests) running.kill('hung');
    const response = send(request, onCancel);
    count('request');
    const sent = record.sent.at(-1);
    clock.schedule(clock.now() + stage.tripMs, () => {
      if (sent !== undefined && stage.faultOf(sent) !== undefined) count('fault');
    });
    try {
      return await response;
    } finally {
      if (!running.isOver) count('response');
    }
  };
  const message = (kind: MessageKind, name: string, text: string) => {
    count('message');
    if (running.isOver) return;
    if (runnerFault?.kind === kind && ++rejected >= runnerFault.from) {
      record.runnerFailed = true;
      throw new Error(`ENOSPC: no space left on device, write (${kind} ${name})`);
    }
    record.messages.push({ at: stage.now, kind, name, text });
  };

  const running = new VirtualProcess({
    ...plan,
    clock,
    exchange,
    toolkit: createToolkit(plan.inputs, message),
    work: {
      ...work,
      onSignal: (cancellation) => {
        record.signalledAt ??= stage.now;
        work.onSignal(cancellation);
      },
    },
  });
  record.exit = await running.ended;
  record.endedAt = stage.now;
  record.crash = running.crash;
  record.resultFile = takeResultFile(record);
  return record;
}

/** Each run writes thousands of files, so they are removed at once. */
function takeResultFile(record: ProcessRecord): string | undefined {
  const path = record.output('result-file');
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
