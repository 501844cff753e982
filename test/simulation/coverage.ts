import { alarms } from './invariants/status-agrees-with-exit.js';
import { type ProcessRecord, processesOf, type Run, type Sent, type StepRecord } from './record.js';
import { bodyOf, isPage, statusWord } from './truth.js';

/** How often each fault met each mode, in which phase, and how that ended: a simulation that idles is seen. */
export class Coverage {
  readonly #cells: Map<string, number>;

  constructor(cells: Iterable<readonly [string, number]> = []) {
    this.#cells = new Map(cells);
  }

  count(run: Run): void {
    const met = new Set(run.steps.flatMap((step) => processesOf(step).flatMap((process) => cellsOf(step, process))));
    for (const cell of met) this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + 1);
  }

  add(other: Iterable<readonly [string, number]>): void {
    for (const [cell, number] of other) this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + number);
  }

  get cells(): [string, number][] {
    return [...this.#cells];
  }

  /** Cells that can be reached, but were less often than that. */
  thinnerThan(least: number): string[] {
    return reachable().filter((cell) => (this.#cells.get(cell) ?? 0) < least);
  }

  /** A line a phase, a column a fault; in each cell how often each ending came. */
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
  'patience',
  'failure',
  'refusal',
  'outage',
] as const;
type FaultGroup = (typeof faults)[number];

const common = ['green', 'red', 'cancelled', 'killed'];
const ofWait = ['finished', 'failed', 'timeout', 'error', 'cancelled', 'killed'];
const ofPost = ['green', 'alarm', 'killed'];
const phases: Readonly<Record<string, readonly string[]>> = {
  'wait-operation, first look': ofWait,
  'wait-operation, later look': ofWait,
  'list-operations, first page': common,
  'list-operations, later page': common,
  'list-projects, first page': common,
  'list-projects, later page': common,
  'list-keys, list': common,
  'create-key, create': common,
  'create-key, search': common,
  'create-key, clean-up of a create': common,
  'post, look': ofPost,
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
  let hasAnswer = false;
  return process.sent.map((sent) => {
    const cell = cellName(phaseOf(step, process, sent, hasAnswer), faultOf(sent), ending);
    hasAnswer ||= bodyOf(sent) !== undefined;
    return cell;
  });
}

function endingOf({ plan }: StepRecord, process: ProcessRecord): string {
  if (process.exit === 'killed') return 'killed';
  if (process.part === 'post') return alarms(process).length > 0 ? 'alarm' : 'green';
  const status = statusWord(process) ?? 'red';
  if (status === 'cancelled') return status;
  if (plan.mode !== 'wait-operation') return process.exit === 0 ? 'green' : 'red';
  return ofWait.includes(status) ? status : 'error';
}

function phaseOf({ plan: { mode } }: StepRecord, { part }: ProcessRecord, sent: Sent, hasAnswer: boolean): string {
  if (part === 'post') return sent.method === 'GET' ? 'post, look' : 'post, revocation';
  switch (mode) {
    case 'wait-operation':
      return `${mode}, ${hasAnswer ? 'later' : 'first'} look`;
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
          : 'create-key, clean-up of a create';
    default:
      return sent.method === 'GET' ? `${mode}, list` : `${mode}, revocation`;
  }
}

function faultOf(sent: Sent): FaultGroup {
  const { fault, answer } = sent;
  switch (fault) {
    case undefined:
    case 'close-on-next-request':
      return 'none';
    case 'hang-before-headers':
    case 'hang-mid-body':
      return 'hang';
    case 'cut-before-headers':
    case 'cut-mid-body':
    case 'closed-on-arrival':
      return 'cut';
    case 'delay':
    case 'drip':
      return 'slow';
    case 'bad-json':
    case 'empty-body':
    case 'endless-body':
      return 'garbled';
    case 'html':
      return 'page';
    case 'redirect':
      return 'redirect';
    case 'outage':
      return 'outage';
    case 'status': {
      const status = answer?.status ?? 0;
      if (status < 300) return 'garbled';
      if (status === 423 || status === 429) return 'patience';
      return status >= 400 && status < 500 && status !== 408 && status !== 425 && !isPage(sent) ? 'refusal' : 'failure';
    }
  }
}

/** What is final where it is met: the step has ended with it before anything can stop it, and never ends well. */
const final: readonly FaultGroup[] = ['refusal', 'redirect'];

function reachable(): string[] {
  return Object.entries(phases).flatMap(([phase, endings]) =>
    faults.flatMap((fault) =>
      endings.filter((ending) => canBe(phase, fault, ending)).map((ending) => cellName(phase, fault, ending)),
    ),
  );
}

function canBe(phase: string, fault: FaultGroup, ending: string): boolean {
  if (!final.includes(fault)) return true;
  // The other credential may do it still, and that takes time.
  if (phase.startsWith('post')) return fault !== 'refusal' || ending !== 'killed';
  // A wait for one operation is at its end; for several it has seen the others.
  return phase === 'wait-operation, first look' ? ending === 'error' : ending === 'red' || ending === 'error';
}

function short(number: number): string {
  return number < 1_000
    ? String(number)
    : number < 10_000
      ? `${(number / 1_000).toFixed(1)}k`
      : `${Math.round(number / 1_000)}k`;
}
