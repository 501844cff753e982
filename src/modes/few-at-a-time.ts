import pMap from 'p-map';

const atOnce = 6;

/** Side by side, but no more of them than a service bears. */
export function fewAtATime<T, R>(items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  return pMap(items, work, { concurrency: atOnce });
}
