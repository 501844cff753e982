import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly license?: string;
  readonly resolved?: string;
}

interface Package {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

const lock: { readonly packages: Readonly<Record<string, Locked>> } = readJson('package-lock.json');
const packages = Object.entries(lock.packages).filter(([path]) => path.startsWith('node_modules/'));

/** Licences that ask for no more than to be told of. */
const permissive = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'];

/** What a bundle may hold; the packages that `vendor` stands in for are our own, and those of types leave nothing in it. */
const bundled = packages
  .filter(([path, { dev, link }]) => !dev && !link && !/@octokit\/(openapi-)?types$/.test(path))
  .map(([path, { license = 'none' }]) => ({ path, license, name: readJson<Package>(join(path, 'package.json')).name }));

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function words(text: string): string {
  return text.split(/\s+/).join(' ').trim();
}

test.for(bundled)(
  '$name ($license) may be bundled, and its licence is beside the bundles',
  ({ path, license, name }) => {
    expect(permissive).toContain(license);
    const file = readdirSync(path).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry)) ?? 'LICENSE';
    const notices = ['main', 'post'].flatMap((folder) =>
      readdirSync(join('dist', folder))
        .filter((entry) => entry.endsWith('.licenses.txt'))
        .map((entry) => words(readFileSync(join('dist', folder, entry), 'utf8'))),
    );
    const notice = words(`${name} ${license} ${readFileSync(join(path, file), 'utf8')}`);
    expect(notices.some((text) => text.includes(notice))).toBe(true);
  },
);

// The lock file's own `hasInstallScript` is as good as the registry that it was made with.
test('no package runs a script when it is installed', () => {
  const running = packages.filter(([path]) => {
    if (!existsSync(path)) return false; // for another platform
    const { scripts = {} } = readJson<Package>(join(path, 'package.json'));
    return (
      existsSync(join(path, 'binding.gyp')) || ['preinstall', 'install', 'postinstall'].some((name) => name in scripts)
    );
  });
  expect(running.map(([path]) => path)).toEqual([]);
});

test('the lock file names no host, and nothing that is not of a registry or of this repository', () => {
  const foreign = packages.filter(
    ([, { resolved, link }]) => resolved !== undefined && !(link && /^vendor\//.test(resolved)),
  );
  expect(foreign).toEqual([]);
});
