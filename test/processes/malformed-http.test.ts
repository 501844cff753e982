import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, type TestContext, test } from 'vitest';
import { type Exchange, TransportError } from '../../src/http/exchange.js';
import { httpExchange } from '../../src/http/http-exchange.js';

/** The response to a request, if the server sends these bytes and closes the connection. */
async function exchangeWith({ onTestFinished }: TestContext, bytes: string): ReturnType<Exchange> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { exchange, close } = httpExchange();
  onTestFinished(() => {
    close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/projects`);
  return exchange({ method: 'GET', url, headers: {}, maxBytes: 1_000_000 }, () => undefined);
}

const json = '{"projects":[]}';

test.for([
  ['a length that is too small', `HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n${json}`],
  ['a length that is too large', `HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n${json}`],
  ['a length that is not a number', `HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n${json}`],
  ['a negative length', `HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n${json}`],
  ['two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 15\r\n\r\n${json}`],
  ['a length and chunks', `HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a chunk that is too large', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n'],
  ['a chunk without a length', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n${json}`],
  ['thousands of headers', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(5_000)}\r\n${json}`],
  ['a header of a megabyte', `HTTP/1.1 200 OK\r\nx-request-id: ${'x'.repeat(1_000_000)}\r\n\r\n${json}`],
  ['a header that goes on in the next line', 'HTTP/1.1 200 OK\r\nx-request-id: a\r\n ::error::b\r\n\r\n'],
  ['a null character in a header', 'HTTP/1.1 200 OK\r\nx-request-id: a\0b\r\n\r\n'],
  ['an interim response alone', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['an unknown version of HTTP', 'HTTP/9.9 200 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status of letters', 'HTTP/1.1 two OK\r\n\r\n'],
  ['text without HTTP', '::error::HACKED\n\u001b[31m'],
  ['an empty response', ''],
  ['a body over the maximum', `HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n${'['.repeat(2_000_000)}`],
])('%s is no response, and the error shows none of it', async ([, bytes = ''], context) => {
  const outcome = await exchangeWith(context, bytes).catch((error: unknown) => error);
  if (outcome instanceof TransportError) expect(outcome.message).toMatch(/^[ -~]{1,300}$/);
  else expect(outcome).toMatchObject({ status: 200, body: expect.not.stringContaining('projects":[]}') });
});
