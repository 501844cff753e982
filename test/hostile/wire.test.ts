import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, type TestContext, test } from 'vitest';
import { type Exchange, TransportError } from '../../src/http/exchange.js';
import { httpExchange } from '../../src/http/http-exchange.js';

type Send = (bytes: string) => ReturnType<Exchange>;

/** Sends whatever bytes in answer to a request, and closes the connection. */
async function wire({ onTestFinished }: TestContext): Promise<Send> {
  let answer = '';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => socket.end(answer));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { exchange, close } = httpExchange();
  onTestFinished(() => {
    close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/projects`);
  return (bytes) => {
    answer = bytes;
    return exchange({ method: 'GET', url, headers: {}, maxBytes: 1_000_000 }, () => undefined);
  };
}

const json = '{"projects":[]}';

test.for([
  ['a length that is too small', `HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n${json}`],
  ['a length that is too large', `HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n${json}`],
  ['a length that is no number', `HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n${json}`],
  ['a length below nothing', `HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n${json}`],
  ['two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 15\r\n\r\n${json}`],
  ['a length and chunks', `HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a chunk of more than there is', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n'],
  ['a chunk of no number', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n${json}`],
  ['thousands of headers', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(5_000)}\r\n${json}`],
  ['a header of a megabyte', `HTTP/1.1 200 OK\r\nx-request-id: ${'x'.repeat(1_000_000)}\r\n\r\n${json}`],
  ['a header that goes on in the next line', 'HTTP/1.1 200 OK\r\nx-request-id: a\r\n ::error::b\r\n\r\n'],
  ['a zero in a header', 'HTTP/1.1 200 OK\r\nx-request-id: a\0b\r\n\r\n'],
  ['nothing but a promise', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['HTTP of another age', 'HTTP/9.9 200 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status of letters', 'HTTP/1.1 two OK\r\n\r\n'],
  ['no HTTP', '::error::HACKED\n\u001b[31m'],
  ['nothing', ''],
  ['more than was asked for', `HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n${'['.repeat(2_000_000)}`],
])('%s is no answer, and is told as text', async ([, bytes = ''], context) => {
  const send = await wire(context);
  const outcome = await send(bytes).catch((error: unknown) => error);
  if (outcome instanceof TransportError) expect(outcome.message).toMatch(/^[ -~]{1,300}$/);
  else expect(outcome).toMatchObject({ status: 200, body: expect.not.stringContaining('projects":[]}') });
});
