import type { Toolkit } from '../../src/action/toolkit.js';
import { startVirtualProcess, type VirtualProcessOptions } from '../kit/virtual-process.js';
import type { Interruption } from './plan.js';
import { type Message, type MessageKind, type ProcessRecord, processRecord } from './record.js';

type Event = Interruption['on'];

interface Recorded extends Omit<VirtualProcessOptions, 'toolkit' | 'exchange'> {
  readonly part: ProcessRecord['part'];
  readonly inputs: Readonly<Record<string, string>>;
  readonly interruption: Interruption | undefined;
  /** `count`: to be called at each event of the process but its messages. */
  readonly connect: (record: ProcessRecord, count: (event: Event) => void) => VirtualProcessOptions['exchange'];
  /** The runner does not accept a message if this throws. */
  readonly accept?: (message: Told, record: ProcessRecord) => void;
}

export type Told = Omit<Message, 'at'>;

/** Runs one process of the action, interrupts it as planned, and records what it sends and says. */
export async function runRecorded({ part, inputs, interruption, connect, accept, ...options }: Recorded) {
  const { clock, work } = options;
  const record = processRecord(part, clock.now());
  let events = 0;
  const interrupt = () => (interruption?.what === 'kill' ? running.kill() : running.signal());
  const count = (event: Event) => {
    if (interruption?.on !== event || ++events !== interruption.nth) return;
    if (interruption.ms === 0) interrupt();
    else clock.schedule(clock.now() + interruption.ms, interrupt);
  };
  const tell = (message: Told) => {
    count('message');
    if (running.isOver) return;
    accept?.(message, record);
    record.messages.push({ at: clock.now(), ...message });
  };
  const running = startVirtualProcess({
    ...options,
    exchange: connect(record, (event) => {
      if (!running.isOver) count(event);
    }),
    toolkit: createToolkit(inputs, tell),
    work: {
      ...work,
      onSignal: (cancellation) => {
        record.signalledAt ??= clock.now();
        work.onSignal?.(cancellation);
      },
    },
  });
  record.exit = await running.ended;
  record.endedAt = clock.now();
  record.crash = running.crash;
  return record;
}

function createToolkit(inputs: Recorded['inputs'], tell: (message: Told) => void): Toolkit {
  const print = (kind: MessageKind) => (text: string) => tell({ kind, name: '', text });
  const write = (kind: MessageKind) => (name: string, text: string) => tell({ kind, name, text });
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
    summary: async (text) => tell({ kind: 'summary', name: '', text }),
  };
}
