import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, type TestContext } from 'vitest';
import type { Answer } from '../../../src/http/exchange.js';
import { httpExchange } from '../../../src/http/http-exchange.js';

/** What a request gets for these bytes, after which the connection is closed. */
async function answerTo({ onTestFinished }: TestContext, bytes: string): Promise<Answer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('data', () => socket.end(bytes));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { exchange, close } = httpExchange();
  onTestFinished(close);
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/projects`);
  return exchange({ method: 'GET', url, headers: {}, mostBytes: 1_000 }, () => undefined);
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
  await expect(answerTo(context, shorter)).rejects.toThrow(`cut after ${json.length} bytes`);
  const unended = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`;
  await expect(answerTo(context, unended)).rejects.toThrow(`cut after ${json.length} bytes`);
});
