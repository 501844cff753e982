import { test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { setStage } from './stage.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';

/** Each begins as many ways as there are to be taken for more than text. */
const attacks: Readonly<Record<string, string>> = {
  'a command': '::error::HACKED',
  'a command on a line of its own':
    'x\n::set-output name=status::HACKED\r::add-mask::running\r\n::stop-commands::HACKED',
  'a command after blanks': ' \t\u00a0::warning::HACKED',
  'an old command': '##[error]HACKED ##[set-env name=PATH]HACKED ###[debug]HACKED',
  'escapes of a command': '%0A::error::HACKED%0D%25',
  'colours and a cleared screen':
    '\u001b[31mred\u001b[2J\u009b1;1H\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007',
  'marks of direction': 'safe\u202Egnp.exe\u2066\u2069\u200F\u061C',
  HTML: '<img src=x onerror=alert(1)></code></td></table><script>alert(1)</script><!-- <details>',
  Markdown: '</code>\n\n# HACKED\n\n[HACKED](https://evil.example) ![](https://evil.example/x.png) **b** @octocat #1',
  'table cells': '| a | b |\n|---|---|\n`x` | \\| ``` ~~~',
  'a fence': '```\n```mermaid\ngraph TD\nHACKED-->B\n```\n',
  'a chart': 'end :crit, 0, 1\nclick 1 href "https://evil.example"\n%%{init: {"theme":"dark"}}%% section HACKED; x:y',
};

// What our own summary is made of.
const tag = /<\/?(?:p|br|code|table|tr|th|td)>/g;

/** All that is wrong with what a step told. */
function harm(result: StepResult, ours: readonly string[]): string[] {
  const found: string[] = [];
  const names = result.commands.map(({ name }) => name).filter((name) => name !== 'add-mask' && name !== 'debug');
  if (JSON.stringify(names) !== JSON.stringify(ours)) found.push(`commands: ${names}`);
  if (result.masks.length !== 1) found.push(`masks: ${result.masks}`);
  if (result.annotations.some(({ source }) => source === 'runner')) found.push('the runner complained');
  if (result.commands.some(({ data }) => data.startsWith('HACKED'))) found.push('a command of the service');
  if (result.invalid.length > 0) found.push(`files: ${result.invalid}`);
  for (const { text } of result.lines) {
    if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) found.push(`invisible: ${JSON.stringify(text)}`);
  }
  for (const { message } of result.annotations) {
    if (/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(message)) found.push(`invisible: ${JSON.stringify(message)}`);
    if (message.split('\n').some((line) => /^\s*(::|##\[)/.test(line))) found.push(`a command in: ${message}`);
  }
  return [...found, ...harmOfSummary(result.summary)];
}

function harmOfSummary(summary: string): string[] {
  const found: string[] = [];
  if (/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(summary)) found.push('invisible in the summary');
  // The one picture, if any, in which each line is of our own making.
  const picture =
    /```mermaid\ngantt\n {2}dateFormat x\n {2}axisFormat %H:%M:%S\n((?: {2}\d+[\w .-]* :(?:done|crit|active), \d+, \d+\n)+)```\n/;
  const rest = summary.replace(picture, '');
  // Text of the service stands in code alone, where all that means something is an entity.
  const bare = rest.replace(/<code>[^<>]*<\/code>/g, '').replace(tag, '');
  if (/[<>]/.test(bare)) found.push(`a tag: ${bare}`);
  if (/HACKED|evil\.example/.test(bare)) found.push(`text out of its code: ${bare}`);
  for (const [, inside = ''] of rest.matchAll(/<code>([^<>]*)<\/code>/g)) {
    if (/\n|&(?!(amp|lt|gt|quot|#39);)/.test(inside)) found.push(`code: ${inside}`);
  }
  for (const block of rest.match(/<table>[\s\S]*?<\/table>/g) ?? []) {
    if (/\n\s*\n/.test(block)) found.push('an empty line ends the table');
  }
  return found;
}

test.concurrent.for(Object.entries(attacks))('%s in every text of a record is text', async ([, text], context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const fields = { action: text, branch_id: text, endpoint_id: text, failures_count: text, extra: { [text]: text } };
  const failed = service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed', fields });
  const odd = service.plane.startOperation({ projectId, lengthMs: 0, fields: { ...fields, status: text } });
  const timeless = service.plane.startOperation({
    projectId,
    lengthMs: 0,
    fields: { ...fields, status: 'skipped', created_at: text, updated_at: text },
  });
  const result = await run(
    { 'operation-id': [odd.id, failed.id, timeless.id].join(','), timeout: '0', 'fail-fast': 'false' },
    { debug: true },
  );
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', count: '3', 'operation-id': failed.id });
  expect(harm(result, ['warning', 'error'])).toEqual([]);
});

test.concurrent.for(Object.entries(attacks))('%s in an error is text', async ([, text], context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const body = JSON.stringify({ message: text, code: text });
  const header = text.replace(/[^\t\x20-\x7e\x80-\xff]/g, ' ');
  service.faults.add({ fault: { kind: 'status', status: 422, body, headers: { 'x-request-id': header } } });
  const result = await run({ 'operation-id': id }, { debug: true });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(harm(result, ['error'])).toEqual([]);
});

test.concurrent('all of it in other places where a service can put text', async (context) => {
  const { expect } = context;
  const all = Object.values(attacks).join('\n');
  const inHeader = (text: string) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, ' ');
  const faults: Fault[] = [
    { kind: 'status', status: 400, body: all },
    { kind: 'html', status: 403, body: `<html><head><title>${all.replaceAll('<', ' ')}</title></head></html>` },
    { kind: 'redirect', location: `https://evil.example/${inHeader(all)}` },
    { kind: 'redirect', location: inHeader(all) },
    { kind: 'redirect', location: `data:text/html,${inHeader(all)}` },
    { kind: 'redirect', location: 'javascript:%0A::error::HACKED' },
    { kind: 'status', status: 200, body: JSON.stringify({ operation: { id, status: [all] } }) },
    { kind: 'status', status: 200, body: JSON.stringify({ operation: { id: all, status: 'finished' } }) },
    { kind: 'status', status: 200, body: JSON.stringify({ operation: all }) },
  ];
  for (const fault of faults) {
    const { service, run } = await setStage(context);
    service.faults.add({ fault });
    const result = await run({ 'operation-id': id, timeout: '0' }, { debug: true });
    expect(result.outputs, fault.kind).toMatchObject({ status: 'error' });
    expect(harm(result, ['error']), JSON.stringify(fault)).toEqual([]);
  }
});

test.concurrent('ids of a list are text of the service, too', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  for (const text of Object.values(attacks))
    service.plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY, fields: { id: text } });
  const result = await run({ 'operation-id': 'all', timeout: '0' }, { debug: true });
  expect(result.outputs).toMatchObject({ status: 'timeout', count: String(Object.keys(attacks).length) });
  expect(harm(result, ['error'])).toEqual([]);
});

test.concurrent('text of megabytes is cut to a sane length', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const huge = 'HACKED '.repeat(500_000);
  service.faults.add({ fault: { kind: 'status', status: 400, body: JSON.stringify({ message: huge, code: huge }) } });
  const result = await run({ 'operation-id': id }, { debug: true });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(result.output.length).toBeLessThan(5_000);
  expect(result.summary.length).toBeLessThan(5_000);
});
