import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type Socket, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { socketError, TransportError } from './errors.js';

// If a host has several addresses, Node gives each of them but the last 250 ms. A slow one needs more.
setDefaultAutoSelectFamilyAttemptTimeout(1_000);

export interface ConnectOptions extends https.RequestOptions {
  /** The same as `signal`, which Node does not pass to the agent. */
  readonly connectSignal: AbortSignal;
  /** All requests to a host use the same proxy, so they can share connections. */
  readonly proxy: URL | undefined;
  /** Called with true when a new connection begins, and with false when it is ready. */
  readonly onConnecting: (isConnecting: boolean) => void;
}

/** An agent that keeps connections. Only https goes through proxies: an http service is on this machine. */
export function keepAliveAgent(protocol: string): http.Agent {
  const isSecure = protocol === 'https:';
  const agent = new (isSecure ? https : http).Agent({ keepAlive: true });
  const createConnection = agent.createConnection.bind(agent);

  const connect = (options: ConnectOptions, tunnel?: Socket): Socket => {
    const host = withoutBrackets(options.host ?? '');
    const socket = createConnection({ ...options, host, socket: tunnel } as https.RequestOptions) as Socket;
    socket.once(isSecure ? 'secureConnect' : 'connect', () => options.onConnecting(false));
    return socket;
  };

  agent.createConnection = (given, done) => {
    const options = given as ConnectOptions;
    options.onConnecting(true);
    const callback = done as (error: Error | null, socket?: Socket) => void;
    if (options.proxy === undefined) return connect(options);
    openTunnel(options.proxy, options)
      .then((tunnel) => connect(options, tunnel))
      .then((socket) => callback(null, socket), callback);
    return undefined;
  };
  return agent;
}

/** Sends CONNECT to the proxy. Its errors prove that the request was not sent, because nothing has gone through the tunnel. */
function openTunnel(proxy: URL, { host, port, connectSignal }: ConnectOptions): Promise<Socket> {
  const { username, password } = proxy;
  const login = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const target = `${host}:${port}`;
  const proxyHost = withoutBrackets(proxy.hostname);
  const options = {
    method: 'CONNECT',
    host: proxyHost,
    port: proxy.port,
    path: target,
    headers: { host: target, ...(username || password ? { 'proxy-authorization': login } : {}) },
    // By default, Node compares the certificate with the `host` header, which names the target.
    servername: isIP(proxyHost) === 0 ? proxyHost : '',
    signal: connectSignal,
    agent: false,
  } as const;
  const { request } = proxy.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const connecting = request(options).end();
    connecting.on('error', (error) => reject(socketError(error, `the proxy ${proxy.host}`, true)));
    connecting.on('connect', ({ statusCode: status = 0 }, socket) => {
      if (status === 200) return resolve(socket as Socket);
      socket.destroy();
      const details = status === 407 ? { status, transient: false } : {};
      const message = `The proxy ${proxy.host} rejected the tunnel with status ${status}`;
      reject(new TransportError(message, { ...details, mayHaveTakenEffect: false }));
    });
  });
}

/** A URL puts an IPv6 address in brackets, but a socket needs the address alone. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
