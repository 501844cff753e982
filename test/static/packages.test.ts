import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

type Locked = Partial<Record<'license' | 'resolved', string> & Record<'dev' | 'link', boolean>>;

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

test.for(bundled)('the licence of the package %s allows bundling and is added to dist', ([name, license, path]) => {
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

// npm drops an override without a warning once its version is not installed.
test('package-lock.json names no download host and links only to packages in vendor', () => {
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
