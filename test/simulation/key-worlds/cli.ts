/** `npm run key-worlds`: all small worlds of the nightly bounds. `-- --world JSON` runs one, and prints its requests. */
import { runSearch } from '../exhaustive.js';
import { type Bound, nightly } from './bounds.js';
import { runWorld } from './judge.js';
import { search } from './search.js';

const bounds: Readonly<Record<string, Bound>> = nightly;

await runSearch({
  entry: import.meta.url,
  command: 'key-worlds',
  bounds: Object.keys(bounds),
  runWorld: async (world: Parameters<typeof runWorld>[0]) => {
    const { job, alarms, violation } = await runWorld(world);
    const { made, sent, beganAt, main } = job;
    const secretOf = (header = '') => made.find(({ secret }) => header.endsWith(secret))?.id ?? 'parent';
    const requests = sent.map(({ part, at, method, url, headers, wrong, status }) => {
      const by = secretOf(headers['authorization']);
      return `${part} ${at} ${method} ${url.pathname.slice(3)} as ${by}: ${status} ${wrong ?? ''}`;
    });
    return { beganAt, exit: main.exit, made, requests, alarms, violation };
  },
  search: (bound, share) => search(bounds[bound] ?? { worlds: {} }, share),
});
