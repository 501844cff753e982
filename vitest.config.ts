import { existsSync, statfsSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';

/** Tests make thousands of small files. Some disks take longer for them than the tests take for all else. */
const memory = '/dev/shm';
/** In a container it can be small, and may hold no programs. */
const isRoomy = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize > 2 ** 30;

export const shared = {
  globalSetup: 'test/fresh-dist.ts',
  // Most tests wait for processes; a worker a file would spend its time on starting.
  isolate: false,
  maxWorkers: 3,
  // A wait is idle time; the start of a process is not, and more of them at once would be late for what they test.
  maxConcurrency: 8,
  testTimeout: 120_000,
  hookTimeout: 60_000,
  env: isRoomy ? { TMPDIR: memory } : {},
};

export default defineConfig({
  test: {
    ...shared,
    include: ['test/**/*.test.ts'],
    // These have commands of their own, `npm run test:nodes`, `npm run test:official` and `npm run e2e`.
    exclude: [...configDefaults.exclude, 'test/nodes/**', 'test/official/**', 'test/e2e/**'],
    reporters: ['default', ['json', { outputFile: 'build/tests.json' }]],
  },
});
