import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { publishOutputs } from '../../../src/action/publish.js';
import { Secrets } from '../../../src/action/secrets.js';
import { toolkit } from '../../../src/action/toolkit.js';
import { Job } from '../../runner/job.js';

test.for([
  ['an error without a code', new RangeError('Invalid string length'), 'Invalid string length'],
  ['an error with a code', Object.assign(new Error('no space left'), { code: 'ENOSPC' }), 'ENOSPC'],
  ['a text in place of an error', 'a text', 'a text'],
] as const)('a result that throws %s leaves no file, and a message says why', ([, thrown, why], { onTestFinished }) => {
  const job = new Job();
  onTestFinished(() => job.dispose());
  const toJSON = () => {
    throw thrown;
  };
  const outputs: Record<string, string> = {};
  const output = (name: string, value: string) => void Object.assign(outputs, { [name]: value });
  const secrets = new Secrets(() => undefined);
  const environment = { RUNNER_TEMP: job.temp };
  const context = { toolkit: { ...toolkit, output }, secrets, environment, mode: 'list-keys', wantsSummary: false };
  const report = { status: 'ok', headline: '', resultFields: { first: [1, 2], second: { toJSON } } };
  const message = `Could not write result-file to ${job.temp} (RUNNER_TEMP): ${why}. Check the runner's disk.`;

  expect(() => publishOutputs({ ...report, succeeded: true }, context)).toThrow(message);
  expect(readdirSync(job.temp)).toEqual([]);
  const failed = { ...report, status: 'match', succeeded: false };
  expect(publishOutputs(failed, context)).toEqual([message]);
  expect(readdirSync(job.temp)).toEqual([]);
  expect(outputs).toEqual({ 'result-file': '', message: '' });
});
