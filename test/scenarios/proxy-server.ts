import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestContext } from 'vitest';

/** What a proxy does with a CONNECT. */
export type ProxyManner =
  /** Makes the tunnel; each host name is this machine. */
  | { readonly kind: 'tunnel' }
  /** Makes it for those who bear this login. */
  | { readonly kind: 'login'; readonly user: string; readonly password: string }
  /** Takes the CONNECT, and says nothing. */
  | { readonly kind: 'silent' }
  /** Says this, headers and all, and closes. */
  | { readonly kind: 'says'; readonly text: string };

export interface ProxyServer {
  readonly port: number;
  /** All CONNECTs so far. */
  readonly asked: readonly IncomingMessage[];
  /** The first CONNECT has come. */
  readonly firstAsked: Promise<void>;
}

/** Where it listens, and with which certificate. */
export interface ProxyListener {
  readonly host?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A proxy on loopback that hands every tunnel to `port`, whatever host it was asked for. */
export async function startProxy(
  { onTestFinished }: TestContext,
  port: number,
  manner: ProxyManner = { kind: 'tunnel' },
  { host = '127.0.0.1', tls }: ProxyListener = {},
): Promise<ProxyServer> {
  const asked: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  let tellFirst = (): void => undefined;
  const firstAsked = new Promise<void>((resolve) => {
    tellFirst = resolve;
  });

  const noTunnel: RequestListener = (_request, response) => response.writeHead(405).end();
  const server = tls === undefined ? createServer(noTunnel) : createTlsServer(tls, noTunnel);
  server.on('connection', keep);
  server.on('connect', (request, socket: Socket) => {
    asked.push(request);
    tellFirst();
    const refusal = refusalOf(request, manner);
    if (refusal !== undefined) {
      socket.end(refusal);
      return;
    }
    if (manner.kind === 'silent') return;
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    keep(target);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return { port: (server.address() as AddressInfo).port, asked, firstAsked };
}

function refusalOf({ headers }: IncomingMessage, manner: ProxyManner): string | undefined {
  if (manner.kind === 'says') return manner.text;
  if (manner.kind !== 'login') return undefined;
  const login = Buffer.from(`${manner.user}:${manner.password}`).toString('base64');
  return headers['proxy-authorization'] === `Basic ${login}` ? undefined : wantsLogin;
}

export const wantsLogin = proxyAnswer('407 Proxy Authentication Required', 'Proxy-Authenticate: Basic realm="proxy"');

export function proxyAnswer(status: string, header: string, body = ''): string {
  return `HTTP/1.1 ${status}\r\n${header}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
