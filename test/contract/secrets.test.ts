import { expect, test } from 'vitest';
import type { Fault } from '../../control-plane/index.js';
import type { HttpResponse } from '../../src/http/exchange.js';
import { page, status } from '../kit/fault.js';
import { type Inputs, operationId as id, type Mode, modes, rejectInputs, requiredInputs } from '../kit/inputs.js';
import { secretsShown } from '../kit/secrets-shown.js';
import { errorOf, type StageOptions, setStage } from '../kit/stage.js';
import { forever } from '../kit/wait.js';
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
  'with \\u escapes where a message is shortened': rejected(`{"message":"${far} ${escaped}"}`),
  'with escaped slashes': rejected(`{"message":"no: ${slashed}"}`),
  'in an error that is not JSON': rejected(`no: ${key}`),
  'with escapes in truncated JSON': rejected(`{"message":"no: ${escaped}`),
  'in the request id': status(403, { headers: { 'x-request-id': `${key}-1` } }),
  'in Retry-After': status(403, { headers: { 'retry-after': key } }),
  'in the title of a page': page(403, { body: `<html><title>${'x'.repeat(40)}${key}</title>` }),
  'in the path of a redirect': { kind: 'redirect', location: `https://login.example/${key}` },
  'in the query of a redirect': { kind: 'redirect', location: `https://x.test/?key=${encodeURIComponent(key)}` },
  'as a 200 body that is not JSON': accepted(key),
  'as a field of the wrong type': accepted(`{"operation":["${json}"],"operations":["${json}"],"key":["${json}"]}`),
  'in place of an id': accepted(`{"operation":{"id":"${json}","status":"finished"},"id":"${json}"}`),
  'in place of a project id': accepted(`{"operation":{"id":"${id}","project_id":"${slashed}","status":"x"}}`),
});

// These modes word their errors differently. The others have those of list-keys.
for (const mode of ['wait-operation', 'list-keys', 'create-key', 'revoke-key'] as const)
  test.for(echoes)(`${mode} never prints a key that the service echoes %s`, async ([, fault], context) => {
    const { service, runMode } = await setStage(context, { apiKey: key, faults: [{ fault }] });
    const result = await runMode(mode, { ...requiredInputs[mode], timeout: '20s' }, { debug: true });
    expect(result.conclusion).toBe('failure');
    expect(service.requests.length).toBeGreaterThan(0);
    expectHidden(result);
  });

test('the step does not show an api-key that tabs split in a redirect target, even if the target is cut', async (context) => {
  const plain = 'ctl_key_without_signs';
  const host = 'https://login.test/';
  const location = host + 'x'.repeat(201 - host.length - plain.length) + plain.replace('key', 'k\tey');
  const { runMode } = await setStage(context, { apiKey: plain, faults: [{ fault: { kind: 'redirect', location } }] });
  const result = await runMode('list-keys', {});
  expect(errorOf(result)).toContain(`the redirect to ${host}xxx`);
  expect(result.log + result.summary).not.toContain('ctl_key_without_sig');
});

const places: Readonly<Record<string, (made: string) => Partial<HttpResponse>>> = {
  'the message': (made) => ({ body: `{"message":"Stored ${made}, then failed.","code":"E1"}` }),
  'a value in the message': (made) => ({ body: JSON.stringify({ error: { detail: `{"key":"${made}"}` } }) }),
  'the code': (made) => ({ body: `{"code":"${made}"}` }),
  'a body that is not JSON': (made) => ({ body: `Stored ${made}: failed` }),
  'the request id': (made) => ({ headers: { 'x-request-id': made } }),
  'the request id of the body': (made) => ({ body: `{"request_id":"${made}"}` }),
  'the title of a page': (made) => ({ body: `<html><title>${made}</title></html>` }),
  'the host of a redirect': (made) => ({ headers: { location: `https://${made}.test/` } }),
  'the path of a redirect': (made) => ({ headers: { location: `/v2/${made}` } }),
};
const made = ['deadbeefcafe0123', 'ab:cd:ef:01:23', 'abcdefg1', 'a-key-of-letters'];
const codes = [200, 302, 422, 500];
const leaks = codes.flatMap((code) => Object.entries(places).map((place) => [code, ...place] as const));
test.for(leaks)('after a %i, create-key does not print the key that is in %s', async ([code, , place], context) => {
  for (const one of made) {
    const respond: StageOptions['respond'] = (_, __, { method }) =>
      method === 'POST' ? { status: code, ...place(one) } : '[]';
    const { runMode } = await setStage(context, { respond });
    const result = await runMode('create-key', { timeout: '1s' }, { debug: true });
    expect(result.conclusion).toBe('failure');
    expect([result.output, result.summary, ...Object.values(result.outputs)].join('\n')).not.toContain(one);
  }
});

const fields = `"action":"${slashed}","branch_id":"br-${escaped}","failures_count":"${json}","note":["${slashed}"],"${json}":1`;
const operation = (status: string) => `{"id":"${id}","status":${JSON.stringify(status)},${fields}}`;
const waited = (what: string, status: string) =>
  ['wait-operation', what, 'operations', `{"operation":${operation(status)}}`] as const;
test.for<readonly [mode: Mode, what: string, output: string, body: string]>([
  waited('an operation that finished', 'finished'),
  waited('an operation that failed', 'failed'),
  waited('an operation with the key as its status', key),
  ['list-operations', 'an operation', 'operations', `{"operations":[${operation('finished')}]}`],
  ['list-projects', 'a project', 'projects', `{"projects":[{"id":"p-1","name":"${json}",${fields}}]}`],
  ['list-keys', 'a listed key', 'keys', `[{"id":7,"name":"${json}",${fields}}]`],
])('%s never prints an api-key that is in the fields of %s', async ([mode, , output, body], context) => {
  const { runMode } = await setStage(context, { apiKey: key, respond: () => body });
  const result = await runMode(mode, { ...requiredInputs[mode], timeout: '1s' }, { debug: true });
  expect(result.outputs[output]).toMatch(/"id":/);
  expectHidden(result);
});

test('the debug log of a request shows neither its headers nor its body', async (context) => {
  const fault = status(503, { headers: { 'x-other': 'only-in-a-header' }, body: '{"hint":"only-in-the-body"}' });
  const { runMode } = await setStage(context, { faults: [{ fault }] });
  const { commands, output } = await runMode('list-keys', {}, { debug: true });
  expect(commands.filter(({ name }) => name === 'debug')).toHaveLength(5);
  expect(output).not.toMatch(/only-in|Bearer|authorization/i);
});

// The inputs are searched for the key before the mode reads them.
test.for<readonly [place: string, mode: string, inputs: Inputs]>([
  ['the input mode', key, {}],
  ...modes.map((mode) => [`the timeout of ${mode}`, mode, { timeout: key }] as const),
  ['the path of base-url', 'list-keys', { 'base-url': `ftp://host.example/${key}` }],
  ['the second id in operation-id', 'wait-operation', { 'operation-id': `${id},${key}` }],
  ['operation-id as JSON', 'wait-operation', { 'operation-id': JSON.stringify([key]) }],
  ['response-file', 'wait-operation', { 'operation-id': '', 'response-file': key }],
  ['a field far to the right in filter', 'list-keys', { filter: `  ${'x'.repeat(30)}${key}!=` }],
  ['key-id', 'revoke-key', { 'key-id': key }],
  ['key-name', 'revoke-key', { 'key-id': '', 'key-name': `::error::${key}` }],
  ['github-token', 'sweep-keys', { 'github-token': `::error::${key}` }],
])('if %s contains the api-key, the error does not show it', async ([, mode, inputs], context) => {
  const result = await rejectInputs(await setStage(context, { apiKey: key }), mode, inputs, { debug: true });
  expectHidden(result);
  expect(errorOf(result)).toMatch(/contains the API key; expected the key only in api-key/);
});

test('if the api-key is also the project id, wait-operation does not show it', async (context) => {
  const long = `ctl_${'Zq7Wm4Lk9Xs2Vb'.repeat(8)}`;
  const { service, run } = await setStage(context, { apiKey: long });
  service.plane.addProject({ id: long });
  const { id: operation } = service.plane.startOperation({ projectId: long, ...forever });
  const result = await run({ 'project-id': long, 'operation-id': operation }, { debug: true });
  expect(result.conclusion).toBe('failure');
  expect([result.log, result.summary, ...Object.values(result.outputs)].join('\n')).not.toContain(long.slice(0, 20));
});
