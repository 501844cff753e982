import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';

/** A folder imports from itself and those before it, so folders make no circle. Biome finds circles of files. */
const order = ['time', 'text', 'http', 'api', 'keys', 'action', 'post', 'modes'];

/** The files directly in src wire, and may import everything. */
const rank = (path: string) => (path.includes('/') ? order.indexOf(path.split('/')[0] ?? '') : order.length);

test('a folder of src imports nothing from a higher layer', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => path.replaceAll('\\', '/'));
  expect(files.map(rank)).not.toContain(-1);
  const imports = files.flatMap((from) => {
    const targets = readFileSync(join('src', from), 'utf8').matchAll(/(?:\bfrom|\bimport\(?)\s*['"](\.[^'"]+)['"]/g);
    return [...targets].map(([, to = '']) => ({ from, to: posix.join(posix.dirname(from), to) }));
  });
  expect(imports.length).toBeGreaterThan(50);
  expect(imports.filter(({ from, to }) => rank(to) > rank(from))).toEqual([]);
});
