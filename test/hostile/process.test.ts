import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'vitest';
import { serve } from '../scenarios/service-of-own.js';
import { errorOf, setStage } from '../scenarios/stage.js';
import { harm } from './harm.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';

test.concurrent('lists within lists, deeper than memory, are refused before they are read', async (context) => {
  const { expect } = context;
  const { runMode } = await setStage(context);
  const { baseUrl } = await flood(context, '[1,', 100);
  const result = await runMode('list-projects', { 'base-url': baseUrl, timeout: '5s' }, { limitMs: 25_000 });
  expect(harm(result, false)).toEqual([]);
  expect(errorOf(result)).toMatch(/status 200 with a body that is nested too deeply|timeout/);
  expect(result.stderr).toBe('');
});

test.concurrent('a record that is nested more deeply than a printer goes is no crash', async (context) => {
  const { expect } = context;
  const { runMode } = await setStage(context);
  const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
  const { baseUrl } = await serve(context, `{"projects":[{"id":"p","settings":${deep}}]}`);
  const result = await runMode('list-projects', { 'base-url': baseUrl, timeout: '3s' });
  expect(harm(result, false)).toEqual([]);
  expect(errorOf(result)).toMatch(/nested too deeply/);
  expect(result.stderr).toBe('');
});

test.concurrent('a text of the service in an output is that output, and no other', async (context) => {
  const { expect } = context;
  const { runMode } = await setStage(context);
  const odd = `${id}\nEOF\nstatus=HACKED\nghadelimiter_1\nstatus<<EOF\nHACKED\nEOF\n::set-output name=status::HACKED`;
  const body = JSON.stringify({ projects: [{ id: odd, ['__proto__']: { status: 'failed' } }] });
  const { baseUrl } = await serve(context, body);
  const result = await runMode('list-projects', { 'base-url': baseUrl }, { debug: true });
  expect(harm(result, true)).toEqual([]);
  expect(result.outputs).toMatchObject({ status: 'ok', count: '1', 'project-ids': JSON.stringify([odd]) });
});

test.concurrent('what is no UTF-8 in an input, and what is no JSON in a body, is told as text', async (context) => {
  const { expect } = context;
  const { runMode } = await setStage(context);
  const { baseUrl } = await serve(context, '\uFEFF\u0000\u001b[2J::error::HACKED\r\n##[error]HACKED\u2028\u202E');
  const inputs = { 'base-url': baseUrl, 'project-id': '\uFFFD\u202E@octocat', 'operation-id': id, timeout: '0' };
  const result = await runMode('wait-operation', inputs, { debug: true });
  expect(harm(result, false)).toEqual([]);
});

/** A body of so many megabytes of the same few characters, after a beginning that is right. */
async function flood({ onTestFinished }: TestContext, unit: string, megabytes: number): Promise<{ baseUrl: string }> {
  const chunk = Buffer.from(unit.repeat(Math.floor(2 ** 20 / unit.length)));
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"projects":');
    let left = megabytes;
    const send = () => {
      while (left > 0) {
        left--;
        if (!response.write(chunk)) {
          response.once('drain', send);
          return;
        }
      }
      response.end();
    };
    send();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2` };
}
