/**
 * `npm run bench` prints a table in Markdown. `--short` only checks that the bench works. It is not a test, because a figure
 * depends on the machine.
 */
import { parseArgs } from 'node:util';
import { asTable } from './figure.js';
import { keyFigures } from './keys.js';
import { listFigures } from './lists.js';
import { postFigures } from './post.js';
import { processFigures } from './processes.js';
import { projectFigures } from './projects.js';
import { waitFigures } from './waits.js';

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });

const figures = [
  ...(await processFigures(values.short ? 2 : 25)),
  ...(await postFigures()),
  ...(await keyFigures(values.short ? 2 : 25)),
  ...(await listFigures(values.short ? 1 : 5, values.short ? 10_000 : 100_000)),
  ...(await projectFigures(values.short ? 1 : 200)),
  ...(await waitFigures(values.short ? 5 : 100)),
];
console.log(asTable(figures));
