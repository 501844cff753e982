import { defineConfig } from 'vitest/config';

/** `npm run test:official`. Apart from `npm test`, since it needs the program of GitHub's runner. */
export default defineConfig({
  test: {
    include: ['test/official/**/*.test.ts'],
    globalSetup: 'test/official/set-up.ts',
    isolate: false,
    // A job keeps a processor busy for more than a second.
    maxWorkers: 2,
    maxConcurrency: 2,
    testTimeout: 90_000,
    reporters: ['default', ['json', { outputFile: 'build/tests-official.json' }]],
  },
});
