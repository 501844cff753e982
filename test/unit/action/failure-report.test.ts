import { expect, test } from 'vitest';
import { errorReport } from '../../../src/action/failure-report.js';

test.for(['Out of memory', 'Out of memory.'])(
  'the report of the unexpected error “%s” has one full stop',
  (message) => {
    expect(errorReport(new Error(message)).error).toContain('a result: Out of memory. The step may');
  },
);
