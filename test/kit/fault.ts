import type { Fault, FaultRule } from '../../control-plane/index.js';
import type { Stage } from './stage.js';
import { second } from './times.js';

// `{ fault }` alone hits every request. `nth: 1` hits only the first one, `from: 2` all but that.

export const hang = { kind: 'hang-before-headers' } as const satisfies Fault;
export const lost = { kind: 'cut-before-headers' } as const satisfies Fault;
export const truncated = { kind: 'cut-mid-body' } as const satisfies Fault;
export const html = { kind: 'html' } as const satisfies Fault;

type Status = Extract<Fault, { kind: 'status' }>;
export const status = (code: number, more: Partial<Status> = {}): Fault => ({ kind: 'status', status: code, ...more });

type Page = Extract<Fault, { kind: 'html' }>;
export const page = (code: number, more: Partial<Page> = {}): Fault => ({ ...html, status: code, ...more });

export const retryAfter = (code: number, seconds: number): Fault => status(code, { retryAfter: { seconds } });

export const delay = (ms: number): Fault => ({ kind: 'delay', ms });

function wordsFor(fault: Fault): string {
  if (fault.kind === 'hang-before-headers') return 'no response';
  if (fault.kind === 'cut-before-headers') return 'a cut connection';
  if (fault.kind === 'html') return `an HTML page with status ${fault.status ?? 200}`;
  if (fault.kind !== 'status') return fault.kind;
  const { retryAfter } = fault;
  return `a ${fault.status}${retryAfter && 'seconds' in retryAfter ? ` with Retry-After: ${retryAfter.seconds}` : ''}`;
}
/** Rows of a test whose title names the fault. */
export const inWords = (...faults: readonly Fault[]) => faults.map((fault) => [wordsFor(fault), fault] as const);

type Which = Partial<FaultRule>;

const on = (endpoint: NonNullable<FaultRule['endpoint']>, usual: Which) => {
  return (fault: Fault, which: Which = usual): FaultRule => ({ endpoint, fault, ...which });
};

export const onCreate = on('create-key', { nth: 1 });
export const onDelete = on('revoke-key', { nth: 1 });
export const onList = on('list-keys', {});
export const onOperations = on('list-operations', {});

/** The rule holds from one second to another. Both are counted from now. */
export function addBetween({ after, service }: Stage, from: number, to: number, rule: FaultRule): void {
  const begin = () => after((to - from) * second, service.faults.add(rule));
  if (from === 0) begin();
  else after(from * second, begin);
}
