import type { Exchange } from '../../control-plane/index.js';

/** How many of these requests were pending at once, at most. A request without an end was pending to the last. */
export function maxConcurrent(requests: readonly Exchange[]): number {
  const pendingAt = ({ at }: Exchange) => requests.filter((one) => one.at <= at && (one.endedAt ?? Infinity) > at);
  return Math.max(...requests.map((request) => pendingAt(request).length));
}
