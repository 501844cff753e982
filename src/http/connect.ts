import { Agent } from 'node:http';
import { type RequestOptions, Agent as SecureAgent } from 'node:https';
import { connect, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type Clock, systemClock } from '../time/clock.js';
import type { NameLookup } from './name-lookup.js';

export interface ConnectOptions extends RequestOptions {
  /** The same as `signal`, under a second name: Node passes all options but `signal` to the agent. */
  readonly connectSignal?: AbortSignal;
}

/** Node's agent for the protocol. Of the addresses of a host, it uses the first one that answers. */
export function agentFor(protocol: string, names: NameLookup, keepAlive: boolean): Agent {
  const isSecure = protocol === 'https:';
  const agent = isSecure ? new SecureAgent({ keepAlive }) : new Agent({ keepAlive });
  const createConnection = agent.createConnection.bind(agent);

  const openSocket = async (options: ConnectOptions) => {
    const host = options.host ?? '';
    const addresses = isIP(host) === 0 ? await names.addresses(host) : [host];
    const connectTo = (address: string) => connect({ ...options, host: address } as TcpNetConnectOpts);
    const socket = await connectToFirst(addresses, connectTo, systemClock, options.connectSignal);
    return isSecure ? createConnection({ ...options, socket } as ConnectOptions) : socket;
  };

  agent.createConnection = (options, done) => {
    const callback = done as (error: Error | null, socket?: Awaited<ReturnType<typeof openSocket>>) => void;
    openSocket(options).then((socket) => callback(null, socket), callback);
    return undefined;
  };
  return agent;
}

/** Milliseconds until the next address is tried in parallel: the default of RFC 8305, section 5. */
const headStart = 250;

/**
 * Connects to the first address that answers. All attempts stay open. Node drops an attempt after 250 ms, but a slow
 * address may be the only one that works.
 */
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
    const abort = () => {
      end();
      reject(new Error('The connection attempt was aborted'));
    };
    const tryNext = () => {
      cancelNext();
      const address = queue.shift();
      if (address === undefined) {
        if (pending.size > 0) return;
        end();
        reject(errors.length === 1 ? errors[0] : new AggregateError(errors));
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
      if (queue.length > 0) cancelNext = clock.schedule(clock.now() + headStart, tryNext);
    };

    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    tryNext();
  });
}

/** The order of RFC 8305, section 4. An address family without a route then costs one delay, not one for each address. */
function alternateFamilies(addresses: readonly string[]): string[] {
  const isFirst = (address: string) => isIP(address) === isIP(addresses[0] ?? '');
  const others = addresses.filter((address) => !isFirst(address));
  const alternating = addresses.filter(isFirst).flatMap((address) => [address, ...others.splice(0, 1)]);
  return [...alternating, ...others];
}
