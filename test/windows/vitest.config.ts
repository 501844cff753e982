import { defineConfig } from 'vitest/config';
import { shared } from '../../vitest.config.js';

/** The bundle on Node for Windows, in wine. */
export default defineConfig({
  test: { ...shared, maxConcurrency: 2, reporters: ['verbose'], include: ['test/windows/*.test.ts'] },
});
