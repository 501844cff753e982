import { Agent, type ClientRequestArgs } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { connect, isIP, type TcpNetConnectOpts } from 'node:net';
import { systemClock } from '../time/clock.js';
import { connectToFirst } from './connect.js';
import type { NameLookup } from './name-lookup.js';

/** An option of a request. Its agent gets all of them but `signal`, so the signal comes a second time. */
export interface ConnectOptions {
  readonly connectSignal: AbortSignal;
}

type Options = ClientRequestArgs & Partial<ConnectOptions>;

/** An agent of Node for this protocol that uses the address of a host that answers first. */
export function agentFor(protocol: string, names: NameLookup, keepAlive: boolean): Agent {
  const isSecure = protocol === 'https:';
  const agent = isSecure ? new SecureAgent({ keepAlive }) : new Agent({ keepAlive });
  const createConnection = agent.createConnection.bind(agent);

  const openSocket = async (options: Options) => {
    const host = options.host ?? '';
    const addresses = isIP(host) === 0 ? await names.addresses(host) : [host];
    const connectTo = (address: string) => connect({ ...options, host: address } as TcpNetConnectOpts);
    const socket = await connectToFirst(addresses, connectTo, systemClock, options.connectSignal);
    return isSecure ? createConnection({ ...options, socket } as Options) : socket;
  };

  agent.createConnection = (options, done) => {
    const tell = done as (error: Error | null, socket?: Awaited<ReturnType<typeof openSocket>>) => void;
    openSocket(options).then((socket) => tell(null, socket), tell);
    return undefined;
  };
  return agent;
}
