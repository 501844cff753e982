import { ADDRCONFIG, type LookupAllOptions, lookup } from 'node:dns';
import { Agent } from 'node:http';
import { type RequestOptions, Agent as SecureAgent } from 'node:https';
import { connect, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '../time/clock.js';

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
  readonly connectSignal?: AbortSignal;
}

export function agentFor(protocol: string, names: NameLookup, keepAlive: boolean): Agent {
  const isSecure = protocol === 'https:';
  const agent = isSecure ? new SecureAgent({ keepAlive }) : new Agent({ keepAlive });
  const createConnection = agent.createConnection.bind(agent);

  const openSocket = async (options: ConnectOptions) => {
    const host = options.host ?? '';
    const addresses = isIP(host) === 0 ? await names.addresses(host) : [host];
    const connectTo = (address: string) => connect({ ...options, host: address } as TcpNetConnectOpts);
    const socket = await connectToFirst(addresses, connectTo, systemClock, options.connectSignal);
    if (!isSecure) return socket;
    const secureSocket = createConnection({ ...options, socket } as ConnectOptions);
    // The handshake is part of the connection. OpenSSL has the same errors later, when the request may have taken effect.
    const markAsUnsent = (error: Error) => void Object.assign(error, { syscall: 'connect' });
    secureSocket?.prependListener('error', markAsUnsent);
    secureSocket?.once('secureConnect', () => secureSocket.off('error', markAsUnsent));
    return secureSocket;
  };

  agent.createConnection = (options, done) => {
    const callback = done as (error: Error | null, socket?: Awaited<ReturnType<typeof openSocket>>) => void;
    openSocket(options).then((socket) => callback(null, socket), callback);
    return undefined;
  };
  return agent;
}

/** Delay before the next address is tried in parallel, as RFC 8305 recommends in section 5. */
const headStartMs = 250;

/** Connects to the first address that answers. Node would end each attempt after 250 ms, even if no other address works. */
export function connectToFirst(
  addresses: readonly string[],
  connect: (address: string) => Socket,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const queue = alternateFamilies(addresses);
    const pending = new Set<Socket>();
    const errors: Error[] = [];
    let cancelNext = () => {};

    const end = () => {
      cancelNext();
      signal?.removeEventListener('abort', abort);
      queue.length = 0;
      for (const socket of pending) socket.destroy();
    };
    const giveUp = (error: Error | undefined) => {
      end();
      reject(error);
    };
    const abort = () => giveUp(new Error('The connection attempt was aborted'));
    const tryNext = () => {
      cancelNext();
      const address = queue.shift();
      if (address === undefined) {
        if (pending.size === 0) giveUp(errors.length === 1 ? errors[0] : new AggregateError(errors));
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
        end();
        resolve(socket);
      });
      if (queue.length > 0) cancelNext = clock.schedule(clock.now() + headStartMs, tryNext);
    };

    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    tryNext();
  });
}

/** Alternates IPv6 and IPv4 (RFC 8305, section 4), so that a family without a route costs one delay, not one per address. */
function alternateFamilies(addresses: readonly string[]): string[] {
  const isFirst = (address: string) => isIP(address) === isIP(addresses[0] ?? '');
  const others = addresses.filter((address) => !isFirst(address));
  const alternating = addresses.filter(isFirst).flatMap((address) => [address, ...others.splice(0, 1)]);
  return [...alternating, ...others];
}
