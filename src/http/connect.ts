import { ADDRCONFIG, type LookupAllOptions, lookup } from 'node:dns';
import { Agent, request } from 'node:http';
import { type RequestOptions, Agent as SecureAgent } from 'node:https';
import { connect, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '../time/clock.js';
import { hostAndPort, toTransportError, tunnelError } from './errors.js';

export interface NameLookup {
  /** Returns the addresses of a host in the order in which to try them. */
  addresses(host: string): Promise<readonly string[]>;
  /** Ends pending lookups, if possible. */
  close(): void;
}

/** A lookup asks for all addresses, with the same hint as Node's own sockets. */
export const lookupOptions: LookupAllOptions = { all: true, hints: process.platform === 'win32' ? 0 : ADDRCONFIG };

/** A pending lookup blocks a thread in `getaddrinfo`. Nothing can interrupt it, and `process.exit()` waits for it. */
export const lookupInProcess: NameLookup = {
  addresses: async (host) => (await promisify(lookup)(host, lookupOptions)).map(({ address }) => address),
  close: () => undefined,
};

export interface ConnectOptions extends RequestOptions {
  /** The same as `signal`, which Node does not pass to the agent. */
  readonly connectSignal: AbortSignal;
  /** The proxy to connect through. All requests to a host use the same one, so they can share connections. */
  readonly proxy?: URL | undefined;
}

export function agentFor(protocol: string, names: NameLookup, keepAlive: boolean): Agent {
  const isSecure = protocol === 'https:';
  const agent = isSecure ? new SecureAgent({ keepAlive }) : new Agent({ keepAlive });
  const createConnection = agent.createConnection.bind(agent);

  const openSocket = async ({ proxy, ...options }: ConnectOptions) => {
    // A URL puts an IPv6 address in brackets, but a socket needs the address alone.
    const host = (options.host ?? '').replace(/^\[(.*)\]$/, '$1');
    const isName = isIP(host) === 0;
    const connectTo = (address: string) => connect({ ...options, host: address } as TcpNetConnectOpts);
    const connectDirectly = async () => {
      const addresses = isName ? await names.addresses(host) : [host];
      return connectToFirst(addresses, connectTo, systemClock, options.connectSignal);
    };
    const socket = await (proxy === undefined
      ? connectDirectly()
      : openTunnel(proxy, options, agentFor(proxy.protocol, names, false)));
    if (!isSecure) return socket;
    // By default, Node compares the certificate with the `host` header. In a CONNECT, `host` names the target, not the proxy.
    const servername = isName ? host : '';
    const secureSocket = createConnection({ ...options, host, servername, socket } as ConnectOptions);
    // An error in the handshake proves that no request was sent. After the handshake, the same OpenSSL error proves nothing.
    const markAsUnsent = (error: Error) => void Object.assign(error, { syscall: 'connect' });
    secureSocket?.prependListener('error', markAsUnsent);
    secureSocket?.once('secureConnect', () => secureSocket.off('error', markAsUnsent));
    return secureSocket;
  };

  agent.createConnection = (options, done) => {
    const callback = done as (error: Error | null, socket?: Duplex | null) => void;
    openSocket(options as ConnectOptions).then((socket) => callback(null, socket), callback);
    return undefined;
  };
  return agent;
}

/** Sends CONNECT to the proxy. An error proves that the request was never sent, because nothing has gone through the tunnel. */
function openTunnel(proxy: URL, { host, port, connectSignal }: ConnectOptions, agent: Agent): Promise<Socket> {
  const { protocol, hostname, username, password } = proxy;
  const login = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const target = `${host}:${port}`;
  const headers = { host: target, ...(username || password ? { 'proxy-authorization': login } : {}) };
  // A proxy may accept the connection and never respond to CONNECT. Only the signal ends such a request.
  const signals = { signal: connectSignal, connectSignal };
  const address = { protocol, host: hostname, port: proxy.port, path: target };
  return new Promise((resolve, reject) => {
    const connecting = request({ method: 'CONNECT', ...address, headers, agent, ...signals }).end();
    connecting.on('error', (error) => reject(toTransportError(error, `the proxy ${hostAndPort(proxy)}`, true)));
    connecting.on('connect', ({ statusCode }, socket, head) => {
      if (statusCode === 200 && head.length === 0) return resolve(socket);
      socket.destroy();
      reject(tunnelError(statusCode));
    });
  });
}

/** Delay before the next address is tried in parallel, as RFC 8305 recommends in section 5. */
const headStartMs = 250;

/** Connects to the first address that answers. Node would end each attempt after 250 ms, even if no other address works. */
export async function connectToFirst(
  addresses: readonly string[],
  connect: (address: string) => Socket,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Socket> {
  const queue = alternateFamilies(addresses);
  const pending = new Set<Socket>();
  let cancelNext = () => {};
  try {
    return await new Promise((resolve, reject) => {
      const errors: Error[] = [];
      const tryNext = () => {
        cancelNext();
        const address = queue.shift();
        if (address === undefined) {
          if (pending.size === 0) reject(errors.length === 1 ? errors[0] : new AggregateError(errors));
          return;
        }
        const socket = connect(address);
        pending.add(socket);
        const fail = (error: Error) => {
          pending.delete(socket);
          errors.push(error);
          tryNext();
        };
        socket.once('error', fail);
        socket.once('connect', () => {
          pending.delete(socket);
          socket.off('error', fail);
          resolve(socket);
        });
        if (queue.length > 0) cancelNext = clock.schedule(clock.now() + headStartMs, tryNext);
      };
      const abort = () => reject(new Error('The connection attempt was aborted'));
      if (signal?.aborted) return abort();
      signal?.addEventListener('abort', abort);
      tryNext();
    });
  } finally {
    cancelNext();
    queue.length = 0;
    for (const socket of pending) socket.destroy();
  }
}

/** Alternates IPv6 and IPv4 (RFC 8305, section 4), so that a family without a route costs one delay, not one per address. */
function alternateFamilies(addresses: readonly string[]): string[] {
  const isFirst = (address: string) => isIP(address) === isIP(addresses[0] ?? '');
  const others = addresses.filter((address) => !isFirst(address));
  const alternating = addresses.filter(isFirst).flatMap((address) => [address, ...others.splice(0, 1)]);
  return [...alternating, ...others];
}
