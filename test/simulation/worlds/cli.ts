/** `npm run worlds`: all small worlds of the nightly bounds. `-- --world JSON` runs one, and prints what it shows. */
import { runSearch } from '../exhaustive.js';
import { nightly } from './bounds.js';
import { runWorld } from './judge.js';
import { search } from './search.js';

await runSearch({
  entry: import.meta.url,
  command: 'worlds',
  bounds: Object.keys(nightly),
  runWorld,
  search: (bound, share) => search(nightly[bound as keyof typeof nightly], share),
});
