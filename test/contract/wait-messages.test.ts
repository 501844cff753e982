import { expect, test } from 'vitest';
import { hang } from '../kit/fault.js';
import { errorOf } from '../kit/stage.js';
import { second } from '../kit/times.js';
import { during, expectAllEnd, expectEnd, failsIn, forever, patient, runs, targets } from '../kit/wait.js';

/** A sentence of this kind says that the service was silent. */
const silence = /(never|did not|no) (answer|respon[ds])|without (a|any) (answer|response)/i;

test.for(targets)(
  'the timeout error of wait-operation with %s says that the service is silent only if it is',
  async ([, inputs], context) => {
    const timeout = { timeout: '30s', ...inputs };
    const messageAfter = async (options: object) => {
      const { result } = await expectEnd(context, 'timeout', [forever], timeout, options);
      return errorOf(result);
    };
    const never = await messageAfter({ faults: [{ fault: hang }] });
    const atLast = await messageAfter(during(8, 60, hang));
    const between = await messageAfter(during(8, 15, hang));
    expect([never, atLast].map((text) => silence.test(text))).toEqual([true, true]);
    expect(between).not.toMatch(silence);
    expect([never, atLast].map((text) => /never/.test(text))).toEqual([true, false]);
  },
);

test('wait-operation names a failed operation in its error, with what the service says about it', async (context) => {
  const said = {
    error: 'Disk full',
    error_message: 'quota 12',
    message: 'Try later',
    retry_at: '2024-01-02T03:04:05Z',
  };
  for (const [, inputs] of targets) {
    const { result, ids } = await expectEnd(context, 'failed', [{ ...failsIn(5), fields: said }], inputs);
    // A time may be told in another format than the service's.
    const texts = Object.values(said).map((text) => text.slice(0, 10));
    for (const part of [ids[0], 'create_branch', 'failed', ...texts]) expect(errorOf(result)).toContain(part);
  }
});

test('the timeout error of wait-operation counts and names the pending operations', async (context) => {
  const { result, ids } = await expectEnd(context, 'timeout', [forever, runs(3), forever], { timeout: '1m' });
  expect(errorOf(result)).toMatch(/1m.*\b2 of 3\b|\b2 of 3\b.*1m/s);
  for (const [n, id] of ids.entries()) expect(errorOf(result).includes(id)).toBe(n !== 1);
});

test('the output operation-id of wait-operation names a failed operation, else the newest one', async (context) => {
  const plans = [runs(9), { ...runs(3), startsAfterMs: second }];
  await expectAllEnd(context, { status: 'finished', by: 1 }, plans);
  await expectAllEnd(context, { status: 'failed', by: 0 }, [failsIn(9), ...plans], patient);
  const ids = [9, 1, 3].map((seconds, n) => ({ ...runs(seconds), ageMs: 100 - n }));
  await expectEnd(context, { status: 'finished', by: 2 }, ids);
});

test('the log of wait-operation says once a minute that the step still waits', async (context) => {
  const { result } = await expectEnd(context, 'timeout', [forever], { timeout: '5m' });
  expect(result.log.match(/Still waiting/g)).toHaveLength(4);
});
