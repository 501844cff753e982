import { configDefaults, defineConfig } from 'vitest/config';

export const shared = {
  // Most tests wait for processes; a worker a file would spend its time on starting.
  isolate: false,
  maxWorkers: 2,
  // A wait is idle time; the start of a process is not, and more of them at once would be late for what they test.
  maxConcurrency: 12,
  testTimeout: 40_000,
  hookTimeout: 20_000,
};

export default defineConfig({
  test: {
    ...shared,
    include: ['test/**/*.test.ts'],
    // These have commands of their own, `npm run test:nodes` and `npm run e2e`.
    exclude: [...configDefaults.exclude, 'test/nodes/**', 'test/e2e/**'],
    reporters: ['default', ['json', { outputFile: 'build/tests.json' }]],
  },
});
