import { Agent, type ClientRequestArgs } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { connect, isIP, type TcpNetConnectOpts } from 'node:net';
import { systemClock } from '../time/clock.js';
import { connectToFirst } from './connect.js';
import type { NameLookup } from './name-lookup.js';

/** A request option. Node passes all options but `signal` to the agent, so the signal needs a second name. */
export interface ConnectOptions {
  readonly connectSignal: AbortSignal;
}

type Options = ClientRequestArgs & Partial<ConnectOptions>;

/** Node's agent for the protocol, changed to use the first address of a host that answers. */
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
