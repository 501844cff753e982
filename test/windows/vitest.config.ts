import { defineConfig } from 'vitest/config';
import { shared } from '../../vitest.config.js';

export default defineConfig({
  test: { ...shared, maxConcurrency: 2, reporters: ['verbose'], include: ['test/windows/*.test.ts'] },
});
