import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { expect, type TestContext, test, vi } from 'vitest';
import { RequestError } from '../../../src/http/errors.js';
import type { HttpRequest, HttpResponse } from '../../../src/http/exchange.js';
import { httpExchange } from '../../../src/http/http-exchange.js';
import { listen } from '../../kit/listen.js';
import { loginRequired, proxyResponse, startProxy } from '../../kit/peers.js';

function client(url: string) {
  const exchange = httpExchange();
  const request = { url: new URL(url), headers: {}, maxBytes: 1_000_000 };
  return (method: HttpRequest['method']) => exchange({ ...request, method }, () => undefined);
}

function useProxy({ onTestFinished }: TestContext, url: string): void {
  vi.stubEnv('https_proxy', url);
  vi.stubEnv('no_proxy', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
}

const serve = async (context: TestContext, server: Server) => `http://127.0.0.1:${await listen(context, server)}/v2`;

async function answer(context: TestContext, bytes: string): Promise<HttpResponse> {
  const server = createServer((socket) => void socket.once('data', () => socket.end(bytes)));
  return client(await serve(context, server))('GET');
}

const json = '{"projects":[]}';
const ok = 'HTTP/1.1 200 OK\r\n';

test.for([
  ['a Content-Length that is too small', `${ok}content-length: 5\r\n\r\n${json}`],
  ['a chunk without a length', `${ok}transfer-encoding: chunked\r\n\r\nxyz\r\n${json}`],
  ['text that is not HTTP', '::error::HACKED\n\u001b[31m'],
  ['no bytes', ''],
])('a response with %s gives a short printable error or an incomplete body', async ([, bytes = ''], context) => {
  const outcome = await answer(context, bytes).catch((error: unknown) => error);
  if (outcome instanceof RequestError) expect(outcome.message).toMatch(/^[ -~]{1,400}$/);
  else expect(outcome).toMatchObject({ status: 200, body: expect.not.stringContaining('projects":[]}') });
});

test.for([
  ['headers without Content-Length', ''],
  ['headers without Content-Length and two spaces', '  '],
])('a POST fails if its connection is reset after %s', async ([, bytes], context) => {
  const head = `HTTP/1.1 201 Created\r\ncontent-type: application/json\r\n\r\n${bytes}`;
  const server = createServer((socket) => {
    socket.once('data', async () => {
      socket.write(head);
      // The client reads the header within these turns of the event loop.
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      socket.resetAndDestroy();
    });
  });
  await expect(client(await serve(context, server))('POST')).rejects.toThrow(RequestError);
});

test('a request counts as still connecting until the TLS handshake is done', async (context) => {
  const cancels: (() => void)[] = [];
  context.onTestFinished(() => cancels.forEach((cancel) => void cancel()));
  const silent = createServer(() => undefined);
  const url = await serve(context, silent);
  const progress = { isConnecting: false };
  const send = (to: string) => {
    const request = { url: new URL(to), method: 'POST', headers: {}, maxBytes: 1_000, progress } as const;
    httpExchange()(request, (cancel) => void cancels.push(cancel)).catch(() => undefined);
  };
  // The client has sent the first bytes of the handshake.
  const arrived = once(silent, 'connection').then(([socket]) => once(socket, 'data'));
  send(url.replace('http:', 'https:'));
  await arrived;
  expect(progress.isConnecting).toBe(true);
  send(url);
  await vi.waitFor(() => expect(progress.isConnecting).toBe(false));
});

test('a POST may have taken effect if its reused connection closes without a response', async (context) => {
  const server = createHttpServer((request, response) => {
    if (request.method === 'GET') response.end(json);
    else request.socket.destroy();
  });
  const send = client(await serve(context, server));
  await send('GET');
  await expect(send('POST')).rejects.toMatchObject({ mayHaveTakenEffect: true });
});

test.for([
  ['the service', 'http://127.0.0.1:1/v2', '127.0.0.1:1'],
  ['the proxy', 'https://control.test/v2', 'the proxy 127.0.0.1:1'],
] as const)('a POST that %s refuses has no effect, and the error says so', async ([, url, peer], context) => {
  useProxy(context, 'http://user:secret-word@127.0.0.1:1');
  const error = {
    message: `Could not connect to ${peer}: connect ECONNREFUSED 127.0.0.1:1`,
    mayHaveTakenEffect: false,
  };
  await expect(client(url)('POST')).rejects.toMatchObject(error);
});

const unsent = { transient: true, mayHaveTakenEffect: false };
const final = { ...unsent, transient: false };
test.for([
  ['closes the connection', '', /the proxy 127\.0\.0\.1/, unsent],
  ['does not answer with HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', /the proxy 127\.0\.0\.1.*HPE_/, unsent],
  ['returns 503', proxyResponse('503 Busy', 'Retry-After: 0'), /rejected the tunnel with status 503/, unsent],
  ['requires a login', loginRequired, /rejected the tunnel with status 407/, { ...final, status: 407 }],
  [
    'accepts the tunnel and closes it',
    proxyResponse('200 OK', 'Via: x'),
    /Could not connect to control\.test through the proxy 127/,
    unsent,
  ],
  ['has an invalid URL', undefined, /^https_proxy is not a valid URL/, final],
] as const)('a POST has no effect if its proxy %s, and the error says so', async ([, text, says, error], context) => {
  const { port } = await startProxy(context, 0, { says: text ?? '' });
  useProxy(context, text === undefined ? 'proxy.test:3128' : `http://127.0.0.1:${port}`);
  const sent = client('https://control.test/v2')('POST');
  await expect(sent).rejects.toMatchObject({ message: expect.stringMatching(says), ...error });
});

test('a body of the maximum size is read, and one that is a byte larger is not', async (context) => {
  const bytes = (size: number) => `${ok}content-length: ${size}\r\n\r\n${'x'.repeat(size)}`;
  expect((await answer(context, bytes(1_000_000))).body).toHaveLength(1_000_000);
  await expect(answer(context, bytes(1_000_001))).rejects.toThrow(/larger than/);
});
