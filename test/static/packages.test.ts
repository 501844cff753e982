import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { runNode } from './run-node.js';

type Locked = {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly license?: string;
  readonly resolved?: string;
};

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

const { packages: locked } = readJson('package-lock.json');
const packages = Object.entries<Locked>(locked).filter(([path]) => path.startsWith('node_modules/'));

/** Licences that ask for no more than to be told of. */
const permissive = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'];

/** The packages that a bundle may hold. Those with a stand-in in `vendor` are our own code. Those of types leave nothing in a bundle. */
const bundled = packages
  .filter(([path, { dev, link }]) => !dev && !link && !/@octokit\/(openapi-)?types$/.test(path))
  .map(([path, { license = 'none' }]) => [readJson(join(path, 'package.json')).name, license, path] as const);

const words = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

const notices = readdirSync('dist', { recursive: true, encoding: 'utf8' })
  .filter((entry) => entry.endsWith('.licenses.txt'))
  .map((entry) => words(readFileSync(join('dist', entry), 'utf8')));

test.for(bundled)('the licence of %s (%s) allows bundling, and stands beside the bundles', ([name, license, path]) => {
  expect(permissive).toContain(license);
  const file = readdirSync(path).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry)) ?? 'LICENSE';
  const notice = words(`${name} ${license} ${readFileSync(join(path, file), 'utf8')}`);
  expect(notices.some((text) => text.includes(notice))).toBe(true);
  expect(notices.filter((text) => text.includes('ctl-action-no-'))).toEqual([]);
});

// The lock file's own `hasInstallScript` is as good as the registry that it was made with.
test('no package runs a script when it is installed', () => {
  const installed = packages.map(([path]) => path).filter((path) => existsSync(path));
  const running = installed.filter((path) => {
    const { scripts = {} } = readJson(join(path, 'package.json'));
    const hooks = ['preinstall', 'install', 'postinstall'];
    return existsSync(join(path, 'binding.gyp')) || hooks.some((name) => name in scripts);
  });
  expect(running).toEqual([]);
});

test('the lock file names no host, and links only the stand-ins in vendor', () => {
  const own = packages.filter(([path, { resolved }]) => resolved !== undefined || path.includes('/ctl-action-no-'));
  expect(own.map(([path, { resolved, link }]) => [path, resolved, link])).toEqual([
    ['node_modules/@actions/exec', 'vendor/exec', true],
    ['node_modules/ctl-action-no-exec', 'vendor/exec', true],
    ['node_modules/ctl-action-no-tunnel', 'vendor/tunnel', true],
    ['node_modules/ctl-action-no-undici', 'vendor/undici', true],
    ['node_modules/tunnel', 'vendor/tunnel', true],
    ['node_modules/undici', 'vendor/undici', true],
  ]);
});

interface StandIn {
  readonly name: string;
  readonly standsInFor: Readonly<Record<'package' | 'range' | 'in' | 'version', string>>;
}

const standIns: StandIn[] = readdirSync('vendor')
  .filter((entry) => entry !== 'README.md')
  .map((folder) => readJson(join('vendor', folder, 'package.json')));

type Edit = (path: string, change: object) => void;

const lapses: [lapse: string, apply: (edit: Edit, loader: string, name: string) => void][] = [
  ['its importer has another version', (edit, loader) => edit(loader, { version: '99.0.0' })],
  ['its importer has another range', (edit, loader, name) => edit(loader, { dependencies: { [name]: '^99.0.0' } })],
  ['the real package is in its place', (edit, _, name) => edit(name, { name, version: '99.0.0' })],
  ['its importer has a real copy of its own', (edit, loader, name) => edit(`${loader}/node_modules/${name}`, { name })],
];

test.concurrent.for(standIns.flatMap((standIn) => lapses.map((lapse) => [standIn.name, ...lapse, standIn] as const)))(
  'the build with the stand-in %s fails if %s',
  async ([ownName, , apply, { standsInFor }], { onTestFinished }) => {
    const place = mkdtempSync(join(tmpdir(), 'stand-in-'));
    onTestFinished(() => rmSync(place, { recursive: true }));
    const edit: Edit = (path, change) => {
      const file = join(place, 'node_modules', path, 'package.json');
      const before = existsSync(file) ? readJson(file) : {};
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify({ ...before, ...change }));
    };
    cpSync('vendor', join(place, 'vendor'), { recursive: true });
    for (const path of standIns.flatMap(({ standsInFor }) => [standsInFor.in, standsInFor.package])) {
      edit(path, readJson(join('node_modules', path, 'package.json')));
    }
    const { in: loader, version, package: name, range } = standsInFor;
    apply(edit, loader, name);

    const { status, said } = await runNode([resolve('scripts/bundle.js'), 'dist'], { cwd: place });

    expect(said).toContain(`${ownName} was made for ${loader} ${version}, which loads ${name} ${range}. Installed is`);
    expect(said).toContain('See vendor/README.md.');
    expect(status).toBe(1);
    expect(existsSync(join(place, 'dist'))).toBe(false);
  },
);

test.for(standIns)('the bundles do not contain $standsInFor.package', ({ standsInFor }) => {
  const noticed = ['main/index', 'post/revoke-in-post'].flatMap((bundle) =>
    readFileSync(join('dist', `${bundle}.licenses.txt`), 'utf8').split('\n'),
  );
  expect(noticed).toContain('@actions/core');
  expect(noticed).not.toContain(standsInFor.package);
});
