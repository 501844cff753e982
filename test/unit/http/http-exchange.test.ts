import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { expect, type TestContext, test, vi } from 'vitest';
import type { NameLookup } from '../../../src/http/connect.js';
import type { HttpRequest } from '../../../src/http/exchange.js';
import { httpExchange } from '../../../src/http/http-exchange.js';
import { listen } from '../../kit/listen.js';
import { startProxy } from '../../kit/peers.js';

type Method = HttpRequest['method'];

/** An exchange with this URL. `onCancel` gets what cancels the request. */
function client({ onTestFinished }: TestContext, url: string, names?: NameLookup) {
  const { exchange, close } = httpExchange(names);
  onTestFinished(close);
  return (method: Method, onCancel: (cancel: () => void) => void = () => undefined) =>
    exchange({ method, url: new URL(url), headers: {}, maxBytes: 1_000 }, onCancel);
}

/** Every host has these addresses. */
function namesOf(...addresses: string[]): NameLookup {
  return { addresses: async () => addresses, close: () => undefined };
}

function useProxy({ onTestFinished }: TestContext, url: string): void {
  vi.stubEnv('https_proxy', url);
  vi.stubEnv('no_proxy', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
}

async function serve(context: TestContext, server: Server, host = '127.0.0.1'): Promise<string> {
  return `http://${host}:${await listen(context, server)}/v2`;
}

const json = '{"operation":{"id":"x","status":"finished"}}';
const chunk = `${json.length.toString(16)}\r\n${json}\r\n`;
test.for([
  ['a whole body with its length is read', `content-length: ${json.length}\r\n\r\n${json}`, true],
  ['a whole body in chunks is read', `transfer-encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`, true],
  [
    'a body shorter than its length is an error, though it is JSON',
    `content-length: ${json.length + 2}\r\n\r\n${json}`,
    false,
  ],
  ['a body without its last chunk is an error, though it is JSON', `transfer-encoding: chunked\r\n\r\n${chunk}`, false],
] as const)('%s', async ([, response, isComplete], context) => {
  const bytes = `HTTP/1.1 200 OK\r\n${response}`;
  const server = createServer((socket) => void socket.once('data', () => socket.end(bytes)));
  const received = client(context, await serve(context, server))('GET');
  if (isComplete) expect(await received).toMatchObject({ status: 200, body: json });
  else await expect(received).rejects.toThrow(`closed after ${json.length} bytes`);
});

/** A service that responds to the requests with these numbers, and resets the connections of all others. */
async function resetting(context: TestContext, responding: readonly number[], onReset = (_: Server) => {}) {
  const methods: string[] = [];
  const server = createHttpServer((request, response) => {
    methods.push(String(request.method));
    if (responding.includes(methods.length)) return void response.end('{}');
    onReset(server);
    request.socket.resetAndDestroy();
  });
  return { send: client(context, await serve(context, server)), methods };
}

for (const method of ['GET', 'DELETE'] as const) {
  test(`a ${method} that is lost on a used connection is sent once more, on a new one`, async (context) => {
    const { send, methods } = await resetting(context, [1, 3, 4]);
    expect(await send('GET')).not.toHaveProperty('wasResent');
    expect(await send(method)).toMatchObject({ status: 200, wasResent: true });
    expect(await send(method)).not.toHaveProperty('wasResent');
    expect(methods).toEqual(['GET', method, method, method]);
  });
}

test.for([
  ['a GET that is lost twice is not sent a third time', [1], ['GET', 'GET'], 3],
  ['a GET that is lost on a new connection is not sent again', [], ['GET'], 1],
  ['a POST that is lost is not sent again, because it may have taken effect', [1], ['GET', 'POST'], 2],
] as const)('%s', async ([, responding, sent, requests], context) => {
  const { send, methods } = await resetting(context, responding);
  for (const method of sent.slice(0, -1)) await send(method);
  await expect(send(sent.at(-1) ?? 'GET')).rejects.toMatchObject({
    message: expect.stringContaining('Connection reset by 127.0.0.1'),
    mayHaveTakenEffect: true,
  });
  expect(methods).toHaveLength(requests);
});

test('a DELETE that is lost on a used connection may have taken effect, though a new one is refused', async (context) => {
  const { send, methods } = await resetting(context, [1], (server) => void server.close());
  await send('GET');
  await expect(send('DELETE')).rejects.toMatchObject({
    message: expect.stringContaining('Connection reset'),
    mayHaveTakenEffect: true,
  });
  expect(methods).toEqual(['GET', 'DELETE']);
});

test('a request that is cancelled is not sent again', async (context) => {
  const { send, methods } = await resetting(context, [1]);
  await send('GET');
  await expect(send('GET', (cancel) => void Promise.resolve().then(cancel))).rejects.toThrow();
  expect(methods).toHaveLength(1);
});

test('a request asks for an uncompressed response, and names the action and its version alone', async (context) => {
  vi.stubEnv('ACTIONS_ORCHESTRATION_ID', 'id-of-github');
  context.onTestFinished(() => void vi.unstubAllEnvs());
  let headers: IncomingHttpHeaders = {};
  const server = createHttpServer((request, response) => {
    ({ headers } = request);
    response.end('{}');
  });
  await client(context, await serve(context, server))('GET');
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  expect(headers).toMatchObject({ 'accept-encoding': 'identity', 'user-agent': `ctl-action/${version}` });
});

test('an address of a host that refuses does not matter if another one accepts', async (context) => {
  const url = await serve(
    context,
    createHttpServer((_, response) => response.end('{}')),
    'control.test',
  );
  expect(await client(context, url, namesOf('::1', '127.0.0.1'))('GET')).toMatchObject({ status: 200 });
});

test.for([
  ['a service', 'http://127.0.0.1:1/v2', '127.0.0.1:1 (ECONNREFUSED)'],
  [
    'both addresses of a host',
    'http://control.test:1/v2',
    'control.test:1 (ECONNREFUSED at 127.0.0.1, ECONNREFUSED at 127.0.0.1)',
  ],
  ['a proxy', 'https://control.test/v2', 'the proxy 127.0.0.1:1 (ECONNREFUSED)'],
] as const)('the error names %s that refuses, and no POST has taken effect', async ([, url, peer], context) => {
  useProxy(context, 'http://user:secret-word@127.0.0.1:1');
  const names = namesOf('127.0.0.1', '127.0.0.1');
  await expect(client(context, url, names)('POST')).rejects.toMatchObject({
    message: `Connection refused by ${peer}`,
    mayHaveTakenEffect: false,
  });
});

test.for([
  ['hangs up', ''],
  ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['rejects the tunnel', 'HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n'],
] as const)('no POST has taken effect through a proxy that %s', async ([, text], context) => {
  useProxy(context, `http://127.0.0.1:${(await startProxy(context, 0, { kind: 'says', text })).port}`);
  const sent = client(context, 'https://control.test/v2')('POST');
  await expect(sent).rejects.toMatchObject({ mayHaveTakenEffect: false });
});

test('a cancel during the lookup of a name opens no connection', async (context) => {
  const connections: Socket[] = [];
  const url = await serve(
    context,
    createServer((socket) => connections.push(socket)),
    'control.test',
  );
  let found = (_: readonly string[]): void => undefined;
  const lookup = new Promise<readonly string[]>((resolve) => {
    found = resolve;
  });
  const cancels: (() => void)[] = [];
  const pending = client(context, url, { addresses: () => lookup, close: () => undefined })('GET', (cancel) =>
    cancels.push(cancel),
  );
  for (const cancel of cancels) cancel();
  found(['127.0.0.1']);
  await expect(pending).rejects.toThrow(/aborted/);
  expect(connections).toEqual([]);
});

test('a cancel closes the connection to a proxy that accepts CONNECT and stays silent', async (context) => {
  const proxy = await startProxy(context, 0, { kind: 'silent' });
  useProxy(context, `http://127.0.0.1:${proxy.port}`);
  const cancels: (() => void)[] = [];
  const pending = client(context, 'https://control.test/v2')('GET', (cancel) => cancels.push(cancel));
  await proxy.firstAsked;
  for (const cancel of cancels) cancel();
  await expect(pending).rejects.toThrow(/abort/);
  await proxy.firstClosed;
});
