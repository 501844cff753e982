import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from './clock.js';
import type { Reception } from './exchanges.js';
import type { CutBy } from './faults.js';
import type { PlaneAnswer, PlaneRequest } from './plane.js';
import type { WireStep } from './wire-script.js';

export interface ServerOptions {
  readonly host?: string;
  /** 0: a free one. */
  readonly port?: number;
  /** PEM; with it the server speaks TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Responds to other paths on the same port. Undefined leaves a request to the API. */
  readonly beside?: (request: PlaneRequest) => PlaneAnswer | undefined;
}

export interface RunningServer {
  readonly origin: string;
  /** Cuts every connection at once. */
  close(): Promise<void>;
}

interface Receiver {
  receive(request: PlaneRequest): Reception;
  receiveInVain(request: PlaneRequest): void;
}

/** Serves the exchanges over sockets. */
export async function startServer(
  exchanges: Receiver,
  clock: Clock,
  options: ServerOptions = {},
): Promise<RunningServer> {
  const sockets = new Set<Socket>();
  const givenUpSockets = new WeakSet<Socket>();

  const listener = (message: IncomingMessage, response: ServerResponse) => {
    if (givenUpSockets.has(message.socket)) {
      exchanges.receiveInVain(requestOf(message, ''));
      message.socket.destroy();
      return;
    }
    readBody(message, (body) => {
      const request = requestOf(message, body);
      const answer = options.beside?.(request);
      if (answer) {
        response.writeHead(answer.status, answer.headers).end(answer.body);
        return;
      }
      const reception = exchanges.receive(request);
      playScript(reception, response, clock, {
        cut: (by) => cut(message.socket, by, sockets),
        closeOnNextRequest: () => givenUpSockets.add(message.socket),
      });
    });
  };
  const server = options.tls ? createHttpsServer(options.tls, listener) : createHttpServer(listener);
  disableTimeouts(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  await listen(server, options);
  return {
    origin: `${options.tls ? 'https' : 'http'}://${authority(server)}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Only the TCP socket beneath a TLS socket can be reset. Both have the same peer. */
function cut(socket: Socket, by: CutBy, tcpSockets: ReadonlySet<Socket>): void {
  if (by === 'close') socket.destroy();
  else for (const tcp of tcpSockets) if (tcp.remotePort === socket.remotePort) tcp.resetAndDestroy();
}

/** Only a fault may end a connection. */
function disableTimeouts(server: Server): void {
  server.keepAliveTimeout = 0;
  server.headersTimeout = 0;
  server.requestTimeout = 0;
}

function readBody(message: IncomingMessage, whenRead: (body: string) => void): void {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  message.on('end', () => whenRead(Buffer.concat(chunks).toString('utf8')));
  // The client closed its connection before the whole request arrived.
  message.on('error', () => {});
}

function requestOf(message: IncomingMessage, body: string): PlaneRequest {
  const { method = '', url: target = '', socket } = message;
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
  return { method, target, headers, body, from: socket.remoteAddress ?? '' };
}

function listen(server: Server, { host = '127.0.0.1', port = 0 }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function authority(server: Server): string {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

/** The parts of a connection that a response does not have. */
interface Connection {
  cut(by: CutBy): void;
  closeOnNextRequest(): void;
}

/** Carries out the steps on a socket, until the end or until the socket is closed. */
function playScript(
  { script, headSent, over }: Reception,
  response: ServerResponse,
  clock: Clock,
  connection: Connection,
): void {
  let cancelWait = () => {};

  const playFrom = (index: number): void => {
    const current = script[index];
    if (current && !response.destroyed) play(current, () => playFrom(index + 1));
  };

  const play = (current: WireStep, next: () => void): void => {
    switch (current.step) {
      case 'wait':
        cancelWait = clock.schedule(current.ms, next);
        break;
      case 'answer':
        if (current.closeOnNextRequest) connection.closeOnNextRequest();
        headSent(current.answer.status);
        response.writeHead(current.answer.status, current.answer.headers).end(current.answer.body);
        break;
      case 'head':
        headSent(current.status);
        response.writeHead(current.status, current.headers).flushHeaders();
        next();
        break;
      case 'send':
        // A cut would discard a buffered text, so the next step waits until it is sent.
        if (current.text === '') next();
        else response.write(current.text, (error) => error ?? next());
        break;
      case 'end':
        response.end();
        break;
      case 'flood':
        flood(response, current.text);
        break;
      case 'hang':
        break;
      case 'cut':
        connection.cut(current.by);
        break;
    }
  };

  response.on('finish', over);
  response.on('close', () => {
    cancelWait();
    over();
  });
  playFrom(0);
}

function flood(response: ServerResponse, text: string): void {
  // A 204 has no body: Node would drop the text at once, for ever.
  if (response.statusCode === 204) return;
  while (!response.destroyed && response.write(text)) {
    // Until the buffer is full.
  }
  response.once('drain', () => flood(response, text));
}
