import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect, it, type TestContext, vi } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../../src/http/exchange.js';
import { httpExchange } from '../../../src/http/http-exchange.js';
import type { NameLookup } from '../../../src/http/name-lookup.js';

async function addressOf(server: Server, { onTestFinished }: TestContext): Promise<URL> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/projects`);
}

type Ask = (method: HttpRequest['method']) => Promise<HttpResponse>;

function client({ onTestFinished }: TestContext, url: URL, names?: NameLookup): Ask {
  const { exchange, close } = httpExchange(names);
  onTestFinished(close);
  return (method) => exchange({ method, url, headers: {}, maxBytes: 1_000 }, () => undefined);
}

/** What a request gets for these bytes, after which the connection is closed. */
async function answerTo(context: TestContext, bytes: string): Promise<HttpResponse> {
  const server = createServer((socket) => socket.once('data', () => socket.end(bytes)));
  return client(context, await addressOf(server, context))('GET');
}

const json = '{"operation":{"id":"x","status":"finished"}}';
const chunk = `${json.length.toString(16)}\r\n${json}\r\n`;

it('takes a whole body', async (context) => {
  const byLength = `HTTP/1.1 200 OK\r\ncontent-length: ${json.length}\r\n\r\n${json}`;
  expect(await answerTo(context, byLength)).toMatchObject({ status: 200, body: json });
  const chunked = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`;
  expect(await answerTo(context, chunked)).toMatchObject({ status: 200, body: json });
});

it('takes no body that was cut, though what came is whole JSON', async (context) => {
  const shorter = `HTTP/1.1 200 OK\r\ncontent-length: ${json.length + 2}\r\n\r\n${json}`;
  await expect(answerTo(context, shorter)).rejects.toThrow(`closed after ${json.length} bytes`);
  const unended = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`;
  await expect(answerTo(context, unended)).rejects.toThrow(`closed after ${json.length} bytes`);
});

/** A service that answers the requests of these numbers, and closes the connections of all others unanswered. */
async function closing(
  context: TestContext,
  answered: readonly number[],
): Promise<{ url: URL; ask: Ask; asked: string[] }> {
  const asked: string[] = [];
  const server = createHttpServer((request, response) => {
    asked.push(String(request.method));
    if (answered.includes(asked.length)) response.end('{}');
    else request.socket.resetAndDestroy();
  });
  const url = await addressOf(server, context);
  return { url, ask: client(context, url), asked };
}

for (const method of ['GET', 'DELETE'] as const) {
  it(`sends a ${method} once more where its idle connection was closed`, async (context) => {
    const { ask, asked } = await closing(context, [1, 3, 4]);
    expect(await ask('GET')).not.toHaveProperty('isToRepeat');
    expect(await ask(method)).toMatchObject({ status: 200, wasResent: true });
    expect(await ask(method)).not.toHaveProperty('isToRepeat');
    expect(asked).toEqual(['GET', method, method, method]);
  });
}

it('sends it no third time', async (context) => {
  const { ask, asked } = await closing(context, [1]);
  await ask('GET');
  await expect(ask('GET')).rejects.toThrow('Connection reset');
  expect(asked).toHaveLength(3);
});

it('sends nothing again whose connection was new', async (context) => {
  const { ask, asked } = await closing(context, []);
  await expect(ask('GET')).rejects.toThrow('Connection reset');
  expect(asked).toHaveLength(1);
});

it('sends no POST again, as it may have been carried out', async (context) => {
  const { ask, asked } = await closing(context, [1]);
  await ask('GET');
  await expect(ask('POST')).rejects.toThrow('Connection reset');
  expect(asked).toEqual(['GET', 'POST']);
});

it('sends nothing again that was given up', async (context) => {
  const { url, asked } = await closing(context, [1]);
  const { exchange, close } = httpExchange();
  context.onTestFinished(close);
  const request: HttpRequest = { method: 'GET', url, headers: {}, maxBytes: 1_000 };
  await exchange(request, () => undefined);
  let stop = () => {};
  const second = exchange(request, (call) => {
    stop = call;
  });
  stop();
  await expect(second).rejects.toThrow();
  expect(asked).toHaveLength(1);
});

it('asks for an uncompressed answer, and says which action and version asks', async (context) => {
  vi.stubEnv('ACTIONS_ORCHESTRATION_ID', 'id-of-github');
  context.onTestFinished(() => void vi.unstubAllEnvs());
  let headers: IncomingHttpHeaders = {};
  const server = createHttpServer((request, response) => {
    ({ headers } = request);
    response.end('{}');
  });
  await client(context, await addressOf(server, context))('GET');
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  expect(headers).toMatchObject({ 'accept-encoding': 'identity', 'user-agent': `ctl-action/${version}` });
});

/** Says that every host has these addresses. */
function namesOf(...addresses: string[]): NameLookup {
  return { addresses: async () => addresses, close: () => undefined };
}

it('uses the address of a host that works', async (context) => {
  const server = createHttpServer((_, response) => response.end('{}'));
  const url = await addressOf(server, context);
  url.hostname = 'control.test';
  // Nobody listens at the first one.
  expect(await client(context, url, namesOf('::1', '127.0.0.1'))('GET')).toMatchObject({ status: 200 });
});

it('names host and port of a connection that was refused', async (context) => {
  const asking = client(context, new URL('http://127.0.0.1:1/v2'))('POST');
  await expect(asking).rejects.toMatchObject({
    message: 'Connection refused by 127.0.0.1:1 (ECONNREFUSED)',
    mayHaveTakenEffect: false,
  });
});

it('reports both addresses of a host that refuse, and that nothing was sent', async (context) => {
  const asking = client(context, new URL('http://control.test:1/v2'), namesOf('127.0.0.1', '127.0.0.1'))('POST');
  await expect(asking).rejects.toMatchObject({
    message: 'Connection refused by control.test:1 (ECONNREFUSED at 127.0.0.1, ECONNREFUSED at 127.0.0.1)',
    mayHaveTakenEffect: false,
  });
});

it('names a proxy that refuses, without its password, and reports that nothing was sent', async (context) => {
  vi.stubEnv('https_proxy', 'http://user:secret-word@127.0.0.1:1');
  vi.stubEnv('no_proxy', undefined);
  context.onTestFinished(() => void vi.unstubAllEnvs());
  await expect(client(context, new URL('https://control.test/v2'))('POST')).rejects.toMatchObject({
    message: 'Connection refused by the proxy 127.0.0.1:1 (ECONNREFUSED)',
    mayHaveTakenEffect: false,
  });
});

it('gives up a connection with its request', async (context) => {
  let sockets = 0;
  const server = createServer(() => sockets++);
  const url = await addressOf(server, context);
  url.hostname = 'control.test';
  let answer = (_: readonly string[]): void => undefined;
  const names = {
    addresses: () => new Promise<readonly string[]>((resolve) => (answer = resolve)),
    close: () => undefined,
  };
  const { exchange, close } = httpExchange(names);
  context.onTestFinished(close);
  let stop = () => {};
  const asking = exchange({ method: 'GET', url, headers: {}, maxBytes: 1_000 }, (call) => {
    stop = call;
  });
  stop();
  answer(['127.0.0.1']);
  await expect(asking).rejects.toThrow(/aborted/);
  expect(sockets).toBe(0);
});
