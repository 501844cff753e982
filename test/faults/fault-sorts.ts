import type { Fault } from '../control-plane/index.js';

const transient = [408, 423, 425, 429, 500, 502, 503, 504];

/** Milliseconds that an exchange may take at most. */
const patience = { main: 1_500, post: 5_000 };

/** What no user would notice, however often it comes. */
export function isBenign(fault: Fault, stage: keyof typeof patience): boolean {
  return fault.kind === 'close-on-next-request' || (fault.kind === 'delay' && fault.ms < patience[stage]);
}

/** What the client is to try again. */
export function isRepeated(fault: Fault): boolean {
  switch (fault.kind) {
    case 'status':
      return transient.includes(fault.status) && !asksForLong(fault);
    case 'html':
      return fault.status === undefined || transient.includes(fault.status);
    case 'redirect':
    case 'endless-body':
      return false;
    default:
      return true;
  }
}

export function asksForLong(fault: Fault): boolean {
  return (
    'retryAfter' in fault && fault.retryAfter !== undefined && JSON.stringify(fault.retryAfter) !== '{"seconds":1}'
  );
}

/** By these the service itself says no, and will say no again. */
export function isRefusal(fault: Fault): boolean {
  return [400, 401, 403, 404, 409].some((status) => isStatus(fault, status));
}

export function isStatus(fault: Fault, status: number): boolean {
  return fault.kind === 'status' && fault.status === status;
}
