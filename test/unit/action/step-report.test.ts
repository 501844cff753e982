import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secrets } from '../../../src/action/secrets.js';
import { publishOutputs } from '../../../src/action/step-report.js';
import { toolkit } from '../../../src/action/toolkit.js';
import { Job } from '../../runner/job.js';

test('a result file that cannot be written fails a success, and is a warning beside a failure', ({
  onTestFinished,
}) => {
  const job = new Job();
  onTestFinished(() => job.dispose());
  const folder = join(job.temp, 'gone');
  const outputs: Record<string, string> = {};
  const output = (name: string, value: string) => void Object.assign(outputs, { [name]: value });
  const secrets = new Secrets(() => undefined);
  const environment = { RUNNER_TEMP: folder };
  const context = { toolkit: { ...toolkit, output }, secrets, environment, mode: 'list-keys', wantsSummary: false };
  const message = `Could not write result-file to ${folder} (RUNNER_TEMP): ENOENT. Check the runner's disk.`;

  const listed = { status: 'ok', succeeded: true, headline: '', outputs: { 'key-ids': ['5'] }, resultFields: {} };
  expect(() => publishOutputs(listed, context)).toThrow(message);
  // Later steps have the other outputs.
  expect(outputs).toEqual({ message: '', 'key-ids': '["5"]' });
  expect(publishOutputs({ ...listed, status: 'match', succeeded: false }, context)).toEqual([message]);
});
