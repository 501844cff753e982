import type { ProcessRecord, Run, SentRequest, StepRecord } from './record.js';

/** The client treats the faults of a group alike. */
export const groupOf: Readonly<Record<Exclude<SentRequest['fault'], 'status' | undefined>, string>> = {
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
const faults = [...new Set(Object.values(groupOf)), 'throttled', 'failure', 'rejection'];

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
  'create-key, list': common,
  'create-key, revocation': common,
  'revoke-key, list': common,
  'revoke-key, revocation': common,
  'sweep-keys, list': common,
  'sweep-keys, revocation': common,
  'post, list': ofPost,
  'post, revocation': ofPost,
};
const cells = Object.entries(phases).flatMap(([phase, endings]) =>
  faults.flatMap((fault) =>
    endings.filter((ending) => canEnd(phase, fault, ending)).map((ending) => `${phase}: ${fault}, ${ending}`),
  ),
);

/** Counts how often each fault hit each phase of each mode, and how the process ended. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  count(run: Run): void {
    this.add([...new Set(run.steps.flatMap(cellsOf))].map((cell) => [cell, 1]));
  }

  add(other: Iterable<readonly [string, number]>): void {
    for (const [cell, number] of other) this.#counts.set(cell, (this.#counts.get(cell) ?? 0) + number);
  }

  get counts(): [string, number][] {
    return [...this.#counts];
  }

  /** Cells that can be reached, with a smaller count. */
  below(min: number): string[] {
    return cells.filter((cell) => (this.#counts.get(cell) ?? 0) < min);
  }

  /** A row for each phase, a column for each fault. Each cell counts the endings. */
  table(): string {
    const rows = Object.entries(phases).map(([phase, endings]) => [
      `${phase}: ${endings.join(' ')}`,
      ...faults.map((fault) =>
        endings.map((ending) => this.#counts.get(`${phase}: ${fault}, ${ending}`) ?? 0).join(' '),
      ),
    ]);
    return [['', ...faults], ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
  }
}

function cellsOf(step: StepRecord): string[] {
  return step.processes.flatMap((process) => {
    const ending = endingOf(step, process);
    const firstResponse = process.sent.findIndex(({ json }) => json !== undefined);
    return process.sent.map((sent, index) => {
      const isLater = firstResponse >= 0 && index > firstResponse;
      return `${phaseOf(step, process, sent, isLater)}: ${faultOf(sent)}, ${ending}`;
    });
  });
}

function endingOf({ plan: { mode } }: StepRecord, process: ProcessRecord): string {
  if (process.exit === 'killed') return 'killed';
  if (process.part === 'post') return process.alarms.length > 0 ? 'alarm' : 'green';
  const { status } = process;
  if (status === 'cancelled') return status;
  if (mode === 'wait-operation') return ofWait.includes(status) ? status : process.exit === 0 ? 'finished' : 'error';
  return process.exit === 0 ? 'green' : 'red';
}

function phaseOf({ plan: { mode } }: StepRecord, { part }: ProcessRecord, sent: SentRequest, isLater: boolean): string {
  if (part === 'main' && mode === 'wait-operation') return `${mode}, ${isLater ? 'later' : 'first'} poll`;
  if (mode === 'list-operations' || mode === 'list-projects')
    return `${mode}, ${sent.hasCursor ? 'later' : 'first'} page`;
  const phase = { GET: 'list', POST: 'create', DELETE: 'revocation' }[sent.method];
  return `${part === 'post' ? part : mode}, ${phase}`;
}

function faultOf(sent: SentRequest): string {
  const { fault, status, isThrottled, isRejection } = sent;
  if (fault !== 'status') return fault === undefined ? 'none' : groupOf[fault];
  if (status < 300) return 'garbled';
  return isThrottled ? 'throttled' : isRejection ? 'rejection' : 'failure';
}

/** A rejection or a redirect ends the step at once, so it can neither succeed nor be interrupted. */
function canEnd(phase: string, fault: string, ending: string): boolean {
  if (fault !== 'rejection' && fault !== 'redirect') return true;
  // The other credential may still succeed, and that takes time.
  if (phase.startsWith('post')) return fault === 'redirect' || ending !== 'killed';
  return ending === 'error' || (ending === 'red' && !phase.startsWith('wait'));
}
