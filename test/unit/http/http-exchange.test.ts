import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { ClientRequest, createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { expect, type TestContext, test, vi } from 'vitest';
import type { NameLookup } from '../../../src/http/connect.js';
import { TransportError } from '../../../src/http/errors.js';
import type { HttpRequest, HttpResponse } from '../../../src/http/exchange.js';
import { httpExchange } from '../../../src/http/http-exchange.js';
import { listen } from '../../kit/listen.js';
import { loginRequired, proxyResponse, startProxy } from '../../kit/peers.js';

function client({ onTestFinished }: TestContext, url: string, names?: NameLookup) {
  const { exchange, close } = httpExchange(names);
  onTestFinished(close);
  const request = { url: new URL(url), headers: {}, maxBytes: 1_000_000 };
  return (method: HttpRequest['method'], signal?: AbortSignal, onNewConnection = false) =>
    exchange({ ...request, method, onNewConnection }, (cancel) => signal?.addEventListener('abort', cancel));
}

function useProxy({ onTestFinished }: TestContext, url: string): void {
  vi.stubEnv('https_proxy', url);
  vi.stubEnv('no_proxy', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
}

const serve = async (context: TestContext, server: Server, host = '127.0.0.1') =>
  `http://${host}:${await listen(context, server)}/v2`;

async function answer(context: TestContext, bytes: string): Promise<HttpResponse> {
  const server = createServer((socket) => void socket.once('data', () => socket.end(bytes)));
  return client(context, await serve(context, server))('GET');
}

const json = '{"projects":[]}';
const ok = 'HTTP/1.1 200 OK\r\n';
const chunk = `${json.length.toString(16)}\r\n${json}\r\n`;

const large = 'x'.repeat(1_000_000);
test.for([
  ['in chunks', `transfer-encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`, json],
  ['of a megabyte', `content-length: 1000000\r\n\r\n${large}`, large],
  ['after a byte order mark', `content-length: ${json.length + 3}\r\n\r\n\uFEFF${json}`, json],
] as const)('a body %s is read completely', async ([, response, body], context) => {
  expect(await answer(context, ok + response)).toMatchObject({ status: 200, body });
});

test.for([
  ['a length that is too small', `${ok}content-length: 5\r\n\r\n${json}`],
  ['two lengths', `${ok}content-length: 5\r\ncontent-length: 15\r\n\r\n${json}`],
  ['a length and chunks', `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a chunk without a length', `${ok}transfer-encoding: chunked\r\n\r\nxyz\r\n${json}`],
  ['a header of a megabyte', `${ok}x-request-id: ${'x'.repeat(1_000_000)}\r\n\r\n${json}`],
  ['a header that goes on in the next line', 'HTTP/1.1 200 OK\r\nx-request-id: a\r\n ::error::b\r\n\r\n'],
  ['a null character in a header', 'HTTP/1.1 200 OK\r\nx-request-id: a\0b\r\n\r\n'],
  ['an interim response alone', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['text without HTTP', '::error::HACKED\n\u001b[31m'],
  ['an empty response', ''],
])('a bad response causes a short printable error or an incomplete body: %s', async ([, bytes = ''], context) => {
  const outcome = await answer(context, bytes).catch((error: unknown) => error);
  if (outcome instanceof TransportError) expect(outcome.message).toMatch(/^[ -~]{1,300}$/);
  else expect(outcome).toMatchObject({ status: 200, body: expect.not.stringContaining('projects":[]}') });
});

/** A service that responds to the requests with these numbers, resets the connections of all others, and may then close. */
async function resetting(context: TestContext, responding: readonly number[], closes = false) {
  const requests: IncomingMessage[] = [];
  const server = createHttpServer((request, response) => {
    if (responding.includes(requests.push(request))) return void response.end('{}');
    if (closes) server.close();
    request.socket.resetAndDestroy();
  });
  const url = await serve(context, server);
  const methods = () => requests.map(({ method }) => method);
  return { send: client(context, url), requests, methods, port: Number(new URL(url).port) };
}

const mayHaveTakenEffect = true;
test.for([
  ['a GET that is lost twice is not sent a third time', [1], ['GET', 'GET'], 3, false],
  ['a GET that is lost on a new connection is not sent again', [], ['GET'], 1, false],
  ['a POST that is lost is not sent again, because it may have taken effect', [1], ['GET', 'POST'], 2, false],
  ['a DELETE that is lost is not sent again, because it may have taken effect', [1], ['GET', 'DELETE'], 2, false],
] as const)('%s', async ([, responding, sent, requests, closes], context) => {
  const { send, methods } = await resetting(context, responding, closes);
  for (const method of sent.slice(0, -1)) await send(method);
  const message = expect.stringContaining('Connection reset by 127.0.0.1');
  await expect(send(sent.at(-1) ?? 'GET')).rejects.toMatchObject({ message, mayHaveTakenEffect });
  expect(methods()).toHaveLength(requests);
});

test('requests share a tunnel through a proxy, and a GET that is lost in it is sent again through a new one', async (context) => {
  const { methods, port } = await resetting(context, [1, 2, 4]);
  const proxy = await startProxy(context, port);
  vi.stubEnv('http_proxy', `http://127.0.0.1:${proxy.port}`);
  useProxy(context, '');
  const send = client(context, 'http://control.test/v2');
  for (let n = 0; n < 3; n++) expect(await send('GET')).toMatchObject({ status: 200 });
  expect(methods()).toEqual(['GET', 'GET', 'GET', 'GET']);
  expect(proxy.asked.map(({ url }) => url)).toEqual(['control.test:80', 'control.test:80']);
  for (const { headers } of proxy.asked) expect(headers).not.toHaveProperty('proxy-authorization');
});

test.for([
  ['ECANCELED', 'The connection to 127.0.0.1:PORT was closed (ECANCELED)'],
  ['ECONNABORTED', 'The connection to 127.0.0.1:PORT was aborted (ECONNABORTED)'],
] as const)('a GET that Windows loses on a reused connection (%s) is sent again', async ([code, message], context) => {
  const { emit } = ClientRequest.prototype;
  const spy = vi.spyOn(ClientRequest.prototype, 'emit');
  spy.mockImplementation(function (this: ClientRequest, name, ...rest) {
    return emit.call(this, name, ...(name === 'error' ? [Object.assign(new Error('lost'), { code })] : rest));
  });
  context.onTestFinished(() => spy.mockRestore());
  const { send, methods } = await resetting(context, [1, 3]);
  await send('GET');
  expect(await send('GET')).toMatchObject({ status: 200 });
  const error = await send('POST').catch((reason: unknown) => reason);
  expect(String(error).replace(/:\d+/, ':PORT')).toContain(message);
  expect(error).toMatchObject({ transient: true, mayHaveTakenEffect });
  expect(methods()).toEqual(['GET', 'GET', 'GET', 'POST']);
});

test('a cancelled request is not sent again', async (context) => {
  const { send, methods } = await resetting(context, [1]);
  await send('GET');
  const controller = new AbortController();
  const pending = send('GET', controller.signal);
  controller.abort();
  await expect(pending).rejects.toThrow();
  expect(methods()).toHaveLength(1);
});

test('a request asks for no compression, and its User-Agent is the action with its version', async (context) => {
  vi.stubEnv('ACTIONS_ORCHESTRATION_ID', 'id-of-github');
  context.onTestFinished(() => void vi.unstubAllEnvs());
  const { send, requests } = await resetting(context, [1]);
  await send('GET');
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const headers = { 'accept-encoding': 'identity', 'user-agent': `ctl-action/${version}` };
  expect(requests).toMatchObject([{ headers }]);
});

const refusedTwice = '(ECONNREFUSED at 127.0.0.1, ECONNREFUSED at 127.0.0.1)';
test.for([
  ['a service', 'http://127.0.0.1:1/v2', '127.0.0.1:1 (ECONNREFUSED)'],
  ['both addresses of a host', 'http://control.test:1/v2', `control.test:1 ${refusedTwice}`],
  ['both addresses of a proxy', 'https://control.test/v2', `the proxy proxy.test:1 ${refusedTwice}`],
] as const)('the error names %s that refused the POST, which had no effect', async ([, url, peer], context) => {
  useProxy(context, 'http://user:secret-word@proxy.test:1');
  const names = { addresses: async () => ['127.0.0.1', '127.0.0.1'], close: () => undefined };
  const error = { message: `Connection refused by ${peer}`, mayHaveTakenEffect: false };
  await expect(client(context, url, names)('POST')).rejects.toMatchObject(error);
});

const page = proxyResponse('200 OK', 'Content-Type: text/html', '<!DOCTYPE html><title>Sign in</title>');
const unsent = { transient: true, mayHaveTakenEffect: false };
const final = { ...unsent, transient: false };
test.for([
  ['hangs up', '', /proxy 127\.0\.0\.1/, unsent],
  ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', /proxy 127\.0\.0\.1|The response is not HTTP/, unsent],
  ['returns 503', proxyResponse('503 Busy', 'Retry-After: 0'), /proxy rejected the tunnel with status 503/, unsent],
  ['returns 201', proxyResponse('201 Created', 'Retry-After: 0'), /proxy rejected the tunnel with status 201/, unsent],
  ['requires a login', loginRequired, /proxy requires a login \(status 407\)/, { ...final, status: 407 }],
  ['sends a page into the tunnel', page, /proxy accepted the tunnel, but then sent a response of its own/, unsent],
  ['has no valid URL', undefined, /^https_proxy is not a valid URL/, final],
] as const)('if a proxy %s, the error says so, and the POST had no effect', async ([, text, says, error], context) => {
  const { port } = await startProxy(context, 0, { says: text ?? '' });
  useProxy(context, text === undefined ? 'proxy.test:3128' : `http://127.0.0.1:${port}`);
  const sent = client(context, 'https://control.test/v2')('POST');
  await expect(sent).rejects.toMatchObject({ message: expect.stringMatching(says), ...error });
});

test('a request that is cancelled during its name lookup opens no connection', async (context) => {
  const connections: Socket[] = [];
  const server = createServer((socket) => connections.push(socket));
  const url = await serve(context, server, 'control.test');
  const controller = new AbortController();
  const addresses = async () => {
    controller.abort();
    return ['127.0.0.1'];
  };
  const send = client(context, url, { addresses, close: () => undefined });
  await expect(send('GET', controller.signal)).rejects.toThrow(/aborted/);
  expect(connections).toEqual([]);
});

test('a cancel closes the connection to a proxy that does not respond to CONNECT', async (context) => {
  const proxy = await startProxy(context, 0, { isSilent: true });
  useProxy(context, `http://127.0.0.1:${proxy.port}`);
  const controller = new AbortController();
  const pending = client(context, 'https://control.test/v2')('GET', controller.signal);
  const { socket } = await proxy.firstAsked;
  const closed = once(socket, 'close');
  controller.abort();
  await expect(pending).rejects.toThrow(/abort/);
  await closed;
});

test('a request whose new connection fails is rejected with a TransportError', async (context) => {
  const { send } = await resetting(context, []);
  await expect(send('GET', undefined, true)).rejects.toBeInstanceOf(TransportError);
});
