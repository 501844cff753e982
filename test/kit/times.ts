import { expect } from 'vitest';
import type { Exchange } from '../../control-plane/index.js';

export const second = 1_000;
export const minute = 60 * second;

export const gaps = (times: readonly number[]): number[] => times.slice(1).map((time, n) => time - (times[n] ?? 0));

export function between(from: number, to: number) {
  return expect.toSatisfy((value: number) => value >= from && value < to, `at least ${from} and less than ${to}`);
}

export const seconds = (from: number, to: number) => between(from * second, to * second);

export const atLeast = (from: number) => between(from, Number.POSITIVE_INFINITY);

/** How many of these requests were pending at once, at most. A request without an end was pending to the last. */
export function maxConcurrent(requests: readonly Exchange[]): number {
  const pendingAt = ({ at }: Exchange) => requests.filter((one) => one.at <= at && (one.endedAt ?? Infinity) > at);
  return Math.max(...requests.map((request) => pendingAt(request).length));
}
