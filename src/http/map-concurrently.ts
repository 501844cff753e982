import pLimit from 'p-limit';

const maxConcurrency = 6;

export function mapConcurrently<T, R>(items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  return pLimit(maxConcurrency).map(items, work);
}
