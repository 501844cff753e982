import pMap from 'p-map';

const atOnce = 6;

/** Runs the work in parallel, but limits the load on the service. */
export function fewAtATime<T, R>(items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  return pMap(items, work, { concurrency: atOnce });
}
