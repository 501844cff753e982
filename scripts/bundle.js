// Bundles the output of tsc into <folder>/main and <folder>/post: `node scripts/bundle.js dist`.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { minifySync } from 'rolldown/utils';
import { hashOfSources } from './hash-of-sources.js';

const target = process.argv[2];
if (target === undefined) throw new Error('usage: node scripts/bundle.js <folder>');

const standIns = readdirSync('vendor', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => readJson(join('vendor', name, 'package.json')));

// ncc writes CommonJS if the nearest package.json names no type. CommonJS starts faster: an empty ES module takes 1.16 to
// 1.25 times as long as an empty CommonJS file.
const sources = resolve('build/bundle');
rmSync(sources, { recursive: true, force: true });
cpSync('build/src', sources, { recursive: true });
writeFileSync(join(sources, 'package.json'), '{}\n');

// ncc numbers each module by a hash of its real path and of those of its own loaders, relative to the working folder. So
// the packages and ncc are copied to one place first. The bundle then has the same bytes wherever they are installed.
const { packages } = readJson('package-lock.json');
for (const [path, { dev }] of Object.entries(packages)) {
  if (path === 'node_modules/@vercel/ncc' || (path.startsWith('node_modules/') && !dev)) {
    cpSync(path, join(sources, path), { recursive: true, dereference: true });
  }
}

const ncc = createRequire(join(sources, 'package.json'))('@vercel/ncc');

// Code that is loaded on demand is a separate bundle. With chunks, ncc would not join the modules of an entry into one
// scope, and the entry would start more slowly.
const bundles = {
  'main/index.js': { source: 'main.js', apart: './workflow-runs.js' },
  'main/workflow-runs.js': { source: 'modes/sweep-keys/workflow-runs.js' },
  'post/index.js': { source: 'post.js', apart: './revoke-in-post.js' },
  'post/revoke-in-post.js': { source: 'revoke-in-post.js' },
};

rmSync(target, { recursive: true, force: true });
for (const [path, { source, apart }] of Object.entries(bundles)) {
  const { code, assets } = await ncc(join(sources, source), {
    externals: apart === undefined ? {} : { [apart]: `./${basename(apart)}` },
    license: `${basename(path, '.js')}.licenses.txt`,
    quiet: true,
  });
  // The minifier of ncc keeps functions that nothing calls.
  const minified = minifySync(path, code, { module: false, compress: { target: 'es2022' } });
  if (minified.errors.length > 0) throw new Error(minified.errors.map(({ message }) => message).join('\n'));
  write(join(target, path), minified.code);
  for (const [name, { source }] of Object.entries(assets)) {
    write(join(target, dirname(path), name), name.endsWith('.licenses.txt') ? withoutStandIns(String(source)) : source);
  }
}
write(join(target, 'package.json'), `${JSON.stringify({ type: 'commonjs', sources: hashOfSources() }, null, 2)}\n`);

/** The stand-ins are our own code, so the list of licences leaves them out. The last entry has no empty line behind it. */
function withoutStandIns(licenses) {
  return standIns.reduce(
    (text, { name, license }) => text.replace(new RegExp(`${name}\n${license}\n\n?`), ''),
    licenses,
  );
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
