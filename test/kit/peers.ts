import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'vitest';
import { listen } from './listen.js';
import type { good } from './tls/certificates.js';

export async function startRelay(context: TestContext, port: number) {
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    sockets.push(near, far);
    join(near, far);
  });
  return {
    port: await listen(context, server),
    connections: () => sockets.length / 2,
    /** From now on the open connections are silent: nothing is read, and nothing is closed. */
    silence: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}

function join(near: Socket, far: Socket): void {
  near.pipe(far).pipe(near);
  near.on('close', () => far.destroy());
  far.on('close', () => near.destroy()).on('error', () => near.destroy());
}

/** A tunnel for everybody, or only for this `user:password`, or none: then it is silent, or sends this text, and closes. */
export type ProxyBehaviour = { readonly login?: string; readonly isSilent?: boolean; readonly says?: string };

export type ProxyServer = Awaited<ReturnType<typeof startProxy>>;

/** A proxy that leads every tunnel to `port`, whatever host it is asked for. */
export async function startProxy(context: TestContext, port: number, how: ProxyBehaviour = {}, tls?: typeof good) {
  const credentials = how.login && `Basic ${Buffer.from(how.login).toString('base64')}`;
  /** Requests to the proxy itself, of the method CONNECT. */
  const asked: IncomingMessage[] = [];
  const noTunnel: RequestListener = (_request, response) => response.writeHead(405).end();
  const server = tls === undefined ? createHttpServer(noTunnel) : createTlsServer(tls, noTunnel);
  const firstAsked = new Promise<IncomingMessage>((resolve) => server.once('connect', resolve));
  server.on('connect', (request, socket: Socket) => {
    asked.push(request);
    const needsLogin = credentials !== undefined && request.headers['proxy-authorization'] !== credentials;
    if (how.says !== undefined || needsLogin) return socket.end(how.says ?? loginRequired);
    // A socket without a reader would not notice that the client has closed it.
    if (how.isSilent) return socket.resume().on('end', () => socket.end());
    const far = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    return join(socket, far);
  });
  return { port: await listen(context, server), asked, firstAsked };
}

export const loginRequired = proxyResponse('407 Login Required', 'Proxy-Authenticate: Basic realm="proxy"');

export function proxyResponse(status: string, header: string, body = ''): string {
  return `HTTP/1.1 ${status}\r\n${header}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
