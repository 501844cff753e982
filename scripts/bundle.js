// Bundles the compiled entries into <folder>/main and <folder>/post: `node scripts/bundle.js dist`.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ncc from '@vercel/ncc';

const target = process.argv[2];
if (target === undefined) throw new Error('usage: node scripts/bundle.js <folder>');

// ncc writes CommonJS, which starts faster than an ES module, where the nearest package.json names no type.
const sources = resolve('build/bundle');
rmSync(sources, { recursive: true, force: true });
cpSync('build/src', sources, { recursive: true });
writeFileSync(join(sources, 'package.json'), '{}\n');

rmSync(target, { recursive: true, force: true });
for (const entry of ['main', 'post']) {
  const { code, assets } = await ncc(join(sources, `${entry}.js`), {
    license: 'licenses.txt',
    minify: true,
    quiet: true,
  });
  write(join(target, entry, 'index.js'), code);
  for (const [name, { source }] of Object.entries(assets)) write(join(target, entry, name), source);
}
write(join(target, 'package.json'), '{ "type": "commonjs" }\n');

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
