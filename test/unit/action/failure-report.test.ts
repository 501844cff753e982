import { expect, test } from 'vitest';
import { describeFailure } from '../../../src/action/failure-report.js';
import { UserError } from '../../../src/keys/revocation.js';

test('the summary of a step that cannot do what its inputs say begins with Failed', () => {
  const error = 'Two keys have this name.';
  expect(describeFailure(new UserError(error), 60_000)).toEqual({ status: 'error', headline: 'Failed', error });
});
