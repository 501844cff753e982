import { defineConfig } from 'vitest/config';

/** `npm run e2e`. Apart from `npm test`, since it needs Go, and the network once. */
export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/fresh-dist.ts', 'test/e2e/set-up.ts'],
    isolate: false,
    maxWorkers: 2,
    // A run of act starts processes without a pause, and two of its jobs at a time.
    maxConcurrency: 2,
    testTimeout: 60_000,
    reporters: ['default', ['json', { outputFile: 'build/e2e.json' }]],
  },
});
