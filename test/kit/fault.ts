import type { Fault, FaultRule } from '../../control-plane/index.js';

// `{ fault }` alone hits every request. `nth: 1` hits only the first one, `from: 2` all but that.

export const hang = { kind: 'hang-before-headers' } as const satisfies Fault;
export const lost = { kind: 'cut-before-headers' } as const satisfies Fault;
export const truncated = { kind: 'cut-mid-body' } as const satisfies Fault;
export const html = { kind: 'html' } as const satisfies Fault;

export function status(code: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault {
  return { kind: 'status', status: code, ...more };
}

/** A response with a Retry-After. */
export function retryAfter(code: number, seconds: number): Fault {
  return status(code, { retryAfter: { seconds } });
}

type Which = Partial<FaultRule>;

export function onCreate(fault: Fault, which: Which = { nth: 1 }): FaultRule {
  return { endpoint: 'create-key', fault, ...which };
}

export function onDelete(fault: Fault, which: Which = { nth: 1 }): FaultRule {
  return { endpoint: 'revoke-key', fault, ...which };
}

export function onList(fault: Fault, which: Which = {}): FaultRule {
  return { endpoint: 'list-keys', fault, ...which };
}
