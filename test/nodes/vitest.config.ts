import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { shared } from '../../vitest.config.js';

const { devDependencies } = JSON.parse(readFileSync('test/nodes/package.json', 'utf8'));
const versionOf = (name: string): string => devDependencies[name].split('@').at(-1);
const nodes = Object.keys(devDependencies).filter((name) => versionOf(name) !== process.versions.node);

// Tests the bundle on each Node of test/nodes, but not on the one that runs the tests: `npm test` covers that one. The tests
// cover what differs between versions: sockets, name lookups, TLS, signals, exits. No runner uses Node 22, so one file is enough.
export default defineConfig({
  test: {
    ...shared,
    reporters: ['default', ['json', { outputFile: 'build/tests-nodes.json' }]],
    projects: nodes.map((name) => ({
      test: {
        ...shared,
        name,
        include: [`test/processes/${name === 'node-22' ? 'proxies' : '*'}.test.ts`],
        env: { ...shared.env, NODE_OF_BUNDLE: binaryOf(name) },
      },
    })),
  },
});

function binaryOf(name: string): string {
  const path = `${process.cwd()}/test/nodes/node_modules/${name}/bin/node`;
  const version = existsSync(path) ? execFileSync(path, ['--version'], { encoding: 'utf8' }).trim() : 'missing';
  const wanted = `v${versionOf(name)}`;
  if (version !== wanted) throw new Error(`${path} is ${version}, not ${wanted}: npm ci --prefix test/nodes`);
  return path;
}
