import { type ProcessRecord, processesOf, type Run, type SentRequest, type StepRecord } from './record.js';
import { alarms, bodyOf, isRejection, statusOf } from './truth.js';

/** Counts how often each fault hit each phase of each mode, and how the process ended. */
export class Coverage {
  readonly #cells: Map<string, number>;

  constructor(cells: Iterable<readonly [string, number]> = []) {
    this.#cells = new Map(cells);
  }

  count(run: Run): void {
    const cells = new Set(run.steps.flatMap((step) => processesOf(step).flatMap((process) => cellsOf(step, process))));
    for (const cell of cells) this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + 1);
  }

  add(other: Iterable<readonly [string, number]>): void {
    for (const [cell, number] of other) this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + number);
  }

  get cells(): [string, number][] {
    return [...this.#cells];
  }

  /** Reachable cells with a smaller count. */
  below(min: number): string[] {
    return reachable().filter((cell) => (this.#cells.get(cell) ?? 0) < min);
  }

  /** A row for each phase, a column for each fault. Each cell counts the endings. */
  table(): string {
    const rows = Object.entries(phases).map(([phase, endings]) => {
      const columns = faults.map((fault) =>
        endings.map((ending) => short(this.#cells.get(cellName(phase, fault, ending)) ?? 0)).join(' '),
      );
      return [`${phase}: ${endings.join(' ')}`, ...columns];
    });
    const all = [['', ...faults], ...rows];
    const widths = faults.map((_, index) => Math.max(...all.map((row) => row[index + 1]?.length ?? 0)));
    const first = Math.max(...all.map(([name = '']) => name.length));
    return all
      .map(([name = '', ...columns]) =>
        [name.padEnd(first), ...columns.map((text, index) => text.padStart(widths[index] ?? 0))].join(' | '),
      )
      .join('\n');
  }
}

const faults = [
  'none',
  'hang',
  'cut',
  'slow',
  'garbled',
  'page',
  'redirect',
  'throttled',
  'failure',
  'rejection',
  'outage',
] as const;
type FaultGroup = (typeof faults)[number];

const groupOf: Readonly<Record<Exclude<SentRequest['fault'], 'status' | undefined>, FaultGroup>> = {
  'close-on-next-request': 'none',
  'hang-before-headers': 'hang',
  'hang-mid-body': 'hang',
  'cut-before-headers': 'cut',
  'cut-mid-body': 'cut',
  'closed-on-arrival': 'cut',
  delay: 'slow',
  drip: 'slow',
  'bad-json': 'garbled',
  'empty-body': 'garbled',
  'endless-body': 'garbled',
  html: 'page',
  redirect: 'redirect',
  outage: 'outage',
};

const common = ['green', 'red', 'cancelled', 'killed'];
const ofWait = ['finished', 'failed', 'timeout', 'error', 'cancelled', 'killed'];
const ofPost = ['green', 'alarm', 'killed'];
const phases: Readonly<Record<string, readonly string[]>> = {
  'wait-operation, first poll': ofWait,
  'wait-operation, later poll': ofWait,
  'list-operations, first page': common,
  'list-operations, later page': common,
  'list-projects, first page': common,
  'list-projects, later page': common,
  'list-keys, list': common,
  'create-key, create': common,
  'create-key, search': common,
  'create-key, revocation': common,
  'post, search': ofPost,
  'post, revocation': ofPost,
  'revoke-key, list': common,
  'revoke-key, revocation': common,
  'sweep-keys, list': common,
  'sweep-keys, revocation': common,
};

function cellName(phase: string, fault: FaultGroup, ending: string): string {
  return `${phase}: ${fault}, ${ending}`;
}

function cellsOf(step: StepRecord, process: ProcessRecord): string[] {
  const ending = endingOf(step, process);
  let hasResponse = false;
  return process.sent.map((sent) => {
    const cell = cellName(phaseOf(step, process, sent, hasResponse), faultOf(sent), ending);
    hasResponse ||= bodyOf(sent) !== undefined;
    return cell;
  });
}

function endingOf({ plan }: StepRecord, process: ProcessRecord): string {
  if (process.exit === 'killed') return 'killed';
  if (process.part === 'post') return alarms(process).length > 0 ? 'alarm' : 'green';
  const status = statusOf(process);
  if (status === 'cancelled') return status;
  if (plan.mode !== 'wait-operation') return process.exit === 0 ? 'green' : 'red';
  return ofWait.includes(status) ? status : 'error';
}

function phaseOf(
  { plan: { mode } }: StepRecord,
  { part }: ProcessRecord,
  sent: SentRequest,
  hasResponse: boolean,
): string {
  if (part === 'post') return sent.method === 'GET' ? 'post, search' : 'post, revocation';
  switch (mode) {
    case 'wait-operation':
      return `${mode}, ${hasResponse ? 'later' : 'first'} poll`;
    case 'list-operations':
    case 'list-projects':
      return `${mode}, ${sent.path.includes('cursor=') ? 'later' : 'first'} page`;
    case 'list-keys':
      return 'list-keys, list';
    case 'create-key':
      return sent.method === 'POST'
        ? 'create-key, create'
        : sent.method === 'GET'
          ? 'create-key, search'
          : 'create-key, revocation';
    default:
      return sent.method === 'GET' ? `${mode}, list` : `${mode}, revocation`;
  }
}

function faultOf(sent: SentRequest): FaultGroup {
  const { fault, response } = sent;
  if (fault === 'status') {
    const status = response?.status ?? 0;
    if (status < 300) return 'garbled';
    return status === 423 || status === 429 ? 'throttled' : isRejection(sent) ? 'rejection' : 'failure';
  }
  return fault === undefined ? 'none' : groupOf[fault];
}

/** These end the step at once, so it can neither succeed nor be interrupted. */
const final: readonly FaultGroup[] = ['rejection', 'redirect'];

function reachable(): string[] {
  return Object.entries(phases).flatMap(([phase, endings]) =>
    faults.flatMap((fault) =>
      endings.filter((ending) => canBe(phase, fault, ending)).map((ending) => cellName(phase, fault, ending)),
    ),
  );
}

function canBe(phase: string, fault: FaultGroup, ending: string): boolean {
  if (!final.includes(fault)) return true;
  // The other credential may still succeed, and that takes time.
  if (phase.startsWith('post')) return fault !== 'rejection' || ending !== 'killed';
  // A later poll may come after a failure of another operation.
  return phase === 'wait-operation, first poll' ? ending === 'error' : ending === 'red' || ending === 'error';
}

function short(number: number): string {
  return number < 1_000
    ? String(number)
    : number < 10_000
      ? `${(number / 1_000).toFixed(1)}k`
      : `${Math.round(number / 1_000)}k`;
}
