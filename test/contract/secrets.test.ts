import { expect, test } from 'vitest';
import type { Fault } from '../../control-plane/index.js';
import type { HttpResponse } from '../../src/http/exchange.js';
import { status } from '../kit/fault.js';
import { type Inputs, operationId as id, type Mode, rejectInputs, requiredInputs } from '../kit/inputs.js';
import { secretsShown } from '../kit/secrets-shown.js';
import { setStage } from '../kit/stage.js';
import type { StepResult } from '../runner/step.js';

// With characters that JSON, URLs, HTML and the runner's commands escape, and longer than any text that is printed.
const key = `ctl_${'Zq7/Wm+4"Lk&9%Xs<2\\Vb'.repeat(6)}_end=`;

function expectHidden(result: StepResult): void {
  expect(result.stdout.split('\n')[0]).toBe(`::add-mask::${key.replaceAll('%', '%25')}`);
  expect(secretsShown([result], { minted: [], others: [key] })).toEqual([]);
}

const json = JSON.stringify(key).slice(1, -1);
const slashed = json.replaceAll('/', '\\/');
const escaped = Array.from(key, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const far = 'x'.repeat(230);
const rejected = (body: string) => status(403, { body });
const accepted = (body: string) => status(200, { body });

const echoes = Object.entries<Fault>({
  'as the message of an error': rejected(`{"message":"${json} may not","code":"FORBIDDEN"}`),
  'as the code of an error': rejected(`{"error":{"code":"${json}"}}`),
  'in a long message with \\u escapes': rejected(`{"message":"${far} ${escaped}"}`),
  'in an error that is not JSON': rejected(`no: ${key}`),
  'in the request id': status(403, { headers: { 'x-request-id': `${key}-1` } }),
  'in Retry-After': status(403, { headers: { 'retry-after': key } }),
  'as a 200 response that is not JSON': accepted(key),
  'in place of an id': accepted(`{"operation":{"id":"${json}","status":"finished"},"id":"${json}"}`),
});

// These modes word their errors differently. The others have those of list-keys.
for (const mode of ['wait-operation', 'list-keys', 'create-key', 'revoke-key'] as const)
  test.for(echoes)(`${mode} never prints an API key that the service repeats %s`, async ([, fault], context) => {
    const { service, runMode } = await setStage(context, { apiKey: key, faults: [{ fault }] });
    const result = await runMode(mode, { ...requiredInputs[mode], timeout: '20s' }, { debug: true });
    expect(result.conclusion).toBe('failure');
    expect(service.requests.length).toBeGreaterThan(0);
    expectHidden(result);
  });

test.for<[place: string, response: (made: string) => Partial<HttpResponse>]>([
  ['the message', (made) => ({ body: `{"message":"Stored ${made}, then failed.","code":"E1"}` })],
  ['a value in the message', (made) => ({ body: JSON.stringify({ error: { detail: `{"key":"${made}"}` } }) })],
  ['the code', (made) => ({ body: `{"code":"${made}"}` })],
  ['a body that is not JSON', (made) => ({ body: `Stored ${made}: failed` })],
  ['the request id', (made) => ({ headers: { 'x-request-id': made } })],
])('create-key never prints a new key that an unusable response has in %s', async ([, response], context) => {
  for (const status of [200, 302, 422, 500])
    for (const made of ['deadbeefcafe0123', 'ab:cd:ef:01:23', 'abcdefg1', 'a-key-of-letters']) {
      const { runMode } = await setStage(context, { respond: () => ({ status, ...response(made) }) });
      const result = await runMode('create-key', { timeout: '1s' }, { debug: true });
      expect(result.conclusion).toBe('failure');
      expect([result.output, result.summary, ...Object.values(result.outputs)].join('\n')).not.toContain(made);
    }
});

const fields = `"action":"${slashed}","branch_id":"br-${escaped}","failures_count":"${json}","note":["${slashed}"],"${json}":1`;
const operation = (status: string) => `{"id":"${id}","status":${JSON.stringify(status)},${fields}}`;
const waited = (what: string, status: string) =>
  ['wait-operation', what, 'operations', `{"operation":${operation(status)}}`] as const;
test.for<readonly [mode: Mode, what: string, output: string, body: string]>([
  waited('an operation that failed', 'failed'),
  waited('an operation, also as its status', key),
  ['list-operations', 'an operation', 'operations', `{"operations":[${operation('finished')}]}`],
  ['list-projects', 'a project', 'projects', `{"projects":[{"id":"p-1","name":"${json}",${fields}}]}`],
  ['list-keys', 'a listed key', 'keys', `[{"id":7,"name":"${json}",${fields}}]`],
])('%s never prints an API key that stands in the fields of %s', async ([mode, , output, body], context) => {
  const { runMode } = await setStage(context, { apiKey: key, respond: () => body });
  const result = await runMode(mode, { ...requiredInputs[mode], timeout: '1s' }, { debug: true });
  expect(result.outputs[output]).toMatch(/"id":/);
  expectHidden(result);
});

test('the debug log shows neither headers nor bodies of requests and responses', async (context) => {
  const fault = status(503, { headers: { 'x-other': 'only-in-a-header' }, body: '{"hint":"only-in-the-body"}' });
  const { runMode } = await setStage(context, { faults: [{ fault }] });
  const { commands, output } = await runMode('list-keys', {}, { debug: true });
  expect(commands.filter(({ name }) => name === 'debug')).toHaveLength(5);
  expect(output).not.toMatch(/only-in|Bearer|authorization/i);
});

test.for<readonly [mode: string, inputs: Inputs]>([
  ['list-keys', { timeout: key }],
  ['wait-operation', { 'operation-id': `${id},${key}` }],
  ['revoke-key', { 'key-id': key }],
])('%s does not show an API key that stands in an invalid input', async ([mode, inputs], context) => {
  expectHidden(await rejectInputs(await setStage(context, { apiKey: key }), mode, inputs, { debug: true }));
});
