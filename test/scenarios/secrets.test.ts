import { existsSync, readFileSync } from 'node:fs';
import { test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { setStage } from './stage.js';

// With signs that JSON, URLs, HTML and the runner's commands write in other ways, and longer than any text that is printed.
const key = `ctl_${'Zq7/Wm+4"Lk&9%Xs<2\\Vb'.repeat(6)}_end=`;
const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const never = Number.POSITIVE_INFINITY;

/** Every piece of the key that is long enough to be no chance, in all that a step leaves behind but its one mask. */
function traces(result: StepResult): string[] {
  const [mask = '', ...rest] = result.stdout.split('\n');
  if (mask !== `::add-mask::${key.replaceAll('%', '%25')}`) return [`the first line is no mask: ${mask}`];
  const file = result.outputs['result-file'];
  const places: Readonly<Record<string, string>> = {
    stdout: rest.join('\n'),
    stderr: result.stderr,
    log: result.log,
    outputs: Object.values(result.outputs).join('\n'),
    state: Object.values(result.state).join('\n'),
    env: Object.values(result.env).join('\n'),
    summary: result.summary,
    'result-file': file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '',
  };
  return Object.entries(places).flatMap(([place, text]) => {
    const plainer = [text, unescapedJson(text), unescapedHtml(text), decodeURIs(text)];
    const piece = pieces.find((one) => plainer.some((form) => form.includes(one)));
    return piece === undefined ? [] : [`${place}: ${piece}`];
  });
}

const pieces = Array.from({ length: key.length - 12 }, (_, at) => key.slice(at, at + 12));

function unescapedJson(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\(["\\/])/g, '$1');
}

function unescapedHtml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&quot;', '"')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&amp;', '&');
}

function decodeURIs(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function everyLetterEscaped(text: string): string {
  return Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

const json = JSON.stringify(key).slice(1, -1);
const slashed = json.replaceAll('/', '\\/');
const far = 'x'.repeat(230);
const refused = (body: string): Fault => ({ kind: 'status', status: 403, body });

const echoes: [how: string, fault: Fault][] = [
  ['as the message of an error', refused(`{"message":"${json} may not","code":"FORBIDDEN"}`)],
  ['as the code of an error', refused(`{"error":{"code":"${json}"}}`)],
  ['at the place where a message is cut', refused(`{"message":"${far} ${json}"}`)],
  ['with \\u escapes', refused(`{"message":"no: ${everyLetterEscaped(key)}"}`)],
  ['with \\u escapes where a message is cut', refused(`{"message":"${far} ${everyLetterEscaped(key)}"}`)],
  ['with slashes escaped', refused(`{"message":"no: ${slashed}"}`)],
  ['with slashes escaped where a message is cut', refused(`{"message":"${far} ${slashed}"}`)],
  ['in a text that is no JSON', refused(`no: ${key}`)],
  ['in a text that is no JSON where it is cut', refused(`${far} ${key}`)],
  ['escaped, in JSON that is cut', refused(`{"message":"no: ${everyLetterEscaped(key)}`)],
  ['in the request id', { kind: 'status', status: 403, headers: { 'x-request-id': `${key}-1` } }],
  ['in a retry header', { kind: 'status', status: 403, headers: { 'retry-after': key } }],
  ['in the title of a page', { kind: 'html', status: 403, body: `<html><title>${'x'.repeat(40)}${key}</title>` }],
  ['in the path of a redirect', { kind: 'redirect', location: `https://login.example/${key}` }],
  [
    'in the query of a redirect',
    { kind: 'redirect', location: `https://login.example/?key=${encodeURIComponent(key)}` },
  ],
  ['as a body that is no JSON', { kind: 'status', status: 200, body: key }],
  ['as a field of the wrong kind', { kind: 'status', status: 200, body: `{"operation":["${json}"]}` }],
  ['as another id', { kind: 'status', status: 200, body: `{"operation":{"id":"${json}","status":"finished"}}` }],
  [
    'as another project',
    { kind: 'status', status: 200, body: `{"operation":{"id":"${id}","project_id":"${slashed}","status":"x"}}` },
  ],
];

test.concurrent.for(echoes)('a key that the service echoes %s is printed nowhere', async ([, fault], context) => {
  const { expect } = context;
  const { service, run } = await setStage(context, { apiKey: key });
  service.faults.add({ fault });
  const result = await run({ 'operation-id': id, timeout: '0' }, { debug: true });
  expect(result.conclusion).toBe('failure');
  expect(service.requests).toHaveLength(1);
  expect(result.masks).toEqual([key]);
  expect(traces(result)).toEqual([]);
});

test.concurrent.for(['finished', 'failed', key])('nor one in the fields of a record: %#', async (status, context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context, { apiKey: key });
  const fields = `"action":"${slashed}","branch_id":"br-${everyLetterEscaped(key)}","failures_count":"${json}","note":["${slashed}"]`;
  const body = `{"operation":{"id":"${id}","project_id":"${projectId}","status":${JSON.stringify(status)},${fields}}}`;
  service.faults.add({ fault: { kind: 'status', status: 200, body } });
  const result = await run({ 'operation-id': id, timeout: '0' }, { debug: true });
  expect(result.outputs['operations']).toContain(id);
  expect(traces(result)).toEqual([]);
});

test.concurrent('the mask is the first line, whatever else is wrong', async (context) => {
  const { expect } = context;
  const { run } = await setStage(context);
  for (const inputs of [{ mode: 'no-mode' }, { 'operation-id': '', timeout: 'x' }]) {
    const result = await run({ ...inputs, 'api-key': key });
    expect(result.conclusion).toBe('failure');
    expect(traces(result)).toEqual([]);
  }
});

test.concurrent('a key with a blank in it is masked, and refused without its value', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'api-key': 'hunter2 and\nhunter3', 'operation-id': id });
  expect(result.conclusion).toBe('failure');
  expect(result.log + result.summary).not.toMatch(/hunter/);
  expect(service.requests).toEqual([]);
});

const misplaced: [where: string, inputs: Readonly<Record<string, string>>][] = [
  ['mode', { mode: key }],
  ['project-id', { 'project-id': key }],
  ['operation-id', { 'operation-id': key }],
  ['operation-id, the second of two', { 'operation-id': `${id},${key}` }],
  ['operation-id, as JSON', { 'operation-id': JSON.stringify([key]) }],
  ['response-file', { 'operation-id': '', 'response-file': key }],
  ['filter, as a line', { 'operation-id': 'all', filter: key }],
  ['filter, as a field', { 'operation-id': 'all', filter: `${key}x=1` }],
  ['filter, as a field far to the right', { 'operation-id': 'all', filter: `  ${'x'.repeat(30)}${key}!=` }],
  ['filter, as a pattern', { 'operation-id': 'all', filter: `acton=${key}` }],
  ['fail-on', { 'operation-id': 'all', 'fail-on': key }],
  ['timeout', { timeout: key }],
  ['summary', { summary: key }],
  ['base-url', { 'base-url': key }],
  ['base-url, as its path', { 'base-url': `ftp://host.example/${key}` }],
];

test.concurrent.for(misplaced)(
  'a key that was put into %s too is not shown in the error',
  async ([, inputs], context) => {
    const { expect } = context;
    const { service, run } = await setStage(context, { apiKey: key });
    const result = await run({ 'operation-id': id, timeout: '1s', ...inputs }, { debug: true });
    expect(result.conclusion).toBe('failure');
    expect(service.requests).toEqual([]);
    expect(traces(result)).toEqual([]);
  },
);

test.concurrent('a key that is a project-id too is masked whole wherever the log names the project', async (context) => {
  const { expect } = context;
  const long = `ctl_${'Zq7Wm4Lk9Xs2Vb'.repeat(8)}`;
  const { service, run } = await setStage(context, { apiKey: long });
  service.plane.addProject({ id: long });
  const operation = service.plane.startOperation({ projectId: long, lengthMs: never });
  const result = await run({ 'project-id': long, 'operation-id': operation.id, timeout: '600ms' }, { debug: true });
  expect(result.conclusion).toBe('failure');
  const told = [result.log, result.summary, ...Object.values(result.outputs)].join('\n');
  expect(told).not.toContain(long.slice(0, 20));
});
