import { expect, test } from 'vitest';
import { failureReport } from '../../../src/action/failure-report.js';
import { UserError } from '../../../src/keys/revocation.js';

test('the summary of a step that cannot do what its inputs say begins with Failed', () => {
  const error = 'Two keys have this name.';
  const report = failureReport(new UserError(error), 60_000);
  expect(report).toEqual({ status: 'error', succeeded: false, headline: 'Failed', error });
});
