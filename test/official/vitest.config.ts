import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What waits for minutes begins first, beside all else. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const [long, others] = [true, false].map((wanted) =>
      sorted.filter(({ moduleId }) => moduleId.endsWith('/long.test.ts') === wanted),
    );
    return [...(long ?? []), ...(others ?? [])];
  }
}

/** `npm run test:official`. Apart from `npm test`, since it needs the program of GitHub's runner. */
export default defineConfig({
  test: {
    include: ['test/official/**/*.test.ts'],
    globalSetup: ['test/fresh-dist.ts', 'test/official/set-up.ts'],
    isolate: false,
    sequence: { sequencer: LongFirst },
    // A job keeps a processor busy for more than a second; some wait for a minute, side by side.
    maxWorkers: 2,
    maxConcurrency: 6,
    testTimeout: 180_000,
    reporters: ['default', ['json', { outputFile: 'build/tests-official.json' }]],
  },
});
