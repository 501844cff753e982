import type { Agent, ClientRequest, OutgoingHttpHeaders, RequestOptions } from 'node:http';
import { isIP } from 'node:net';
import { HttpClient } from '@actions/http-client';
import { getProxyUrl } from '@actions/http-client/lib/proxy';
import { agentFor, type ConnectOptions } from './agent.js';
import { type Answer, Broken, type Exchange, type Request } from './exchange.js';
import { lookupInProcess } from './name-lookup.js';
import { proxyProblem } from './proxy.js';
import { readBody } from './read-body.js';
import { broken } from './transport-errors.js';
import { userAgent } from './user-agent.js';

const noIdleLimit = 2 ** 31 - 1;
const closed = ['ECONNRESET', 'EPIPE'];

/** http-client's agent for a proxy. `request` asks the proxy for the tunnel. */
interface TunnelAgent {
  readonly proxyOptions: { proxyAuth?: string | undefined };
  request(options: RequestOptions): ClientRequest;
}

/** Exchanges over sockets, with the proxies and authorities that the environment names. */
export function httpExchange(names = lookupInProcess): { exchange: Exchange; close(): void } {
  const keptAgents = new Map<string, Agent>();

  const keptAgentFor = (protocol: string): Agent => {
    const agent = keptAgents.get(protocol) ?? agentFor(protocol, names, true);
    keptAgents.set(protocol, agent);
    return agent;
  };

  const sendDirectly = (request: Request, signal: AbortSignal, agent: Agent): Promise<Answer> => {
    const own: RequestOptions & ConnectOptions = { agent, signal, connectSignal: signal, host: hostOf(request.url) };
    return send(request, clientFor(own));
  };

  /** The service may close a connection in the moment in which it is used again: then a new one is made. */
  const sendOnUsed = async (request: Request, signal: AbortSignal, agent: Agent): Promise<Answer> => {
    try {
      return await sendDirectly(request, signal, agent);
    } catch (error) {
      if (!closed.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      return await sendDirectly(request, signal, agentFor(request.url.protocol, names, false)).then(
        (answer) => ({ ...answer, isToRepeat: true }),
        (again) => {
          // That the second one never left says nothing about the first.
          throw again instanceof Broken ? again : error;
        },
      );
    }
  };

  const sendThroughProxy = async (request: Request, signal: AbortSignal, proxy: URL): Promise<Answer> => {
    const client = clientFor({ signal });
    const tunnel = client.getAgent(request.url.href) as unknown as TunnelAgent;
    const login = takeLogin(tunnel.proxyOptions);
    const requestTunnel = tunnel.request;
    let tunnelError: unknown;
    tunnel.request = (options) => {
      const host = hostOf(proxy);
      const own: RequestOptions & ConnectOptions & { servername: string } = {
        agent: agentFor(proxy.protocol, names, false),
        // A proxy that takes CONNECT and stays silent is left by this signal alone.
        signal,
        connectSignal: signal,
        host,
        // Node would expect the certificate of the host behind the proxy, which the header `host` names.
        servername: isIP(host) === 0 ? host : '',
      };
      // tunnel turns it into another error, whose code is always ECONNRESET.
      return requestTunnel({ ...options, ...own, headers: { ...options.headers, ...login } }).once('error', (error) => {
        tunnelError = error;
      });
    };
    try {
      return await send(request, client);
    } catch (error) {
      if (tunnelError !== undefined) throw broken(tunnelError, `the proxy ${hostAndPort(proxy)}`, true);
      throw error;
    }
  };

  return {
    async exchange(request, onStop) {
      const { url, method } = request;
      const controller = new AbortController();
      onStop(() => controller.abort());
      const { signal } = controller;
      const problem = proxyProblem(url);
      if (problem !== undefined) throw new Broken(problem, { transient: false, unclear: false });
      const proxy = getProxyUrl(url);
      const through = proxy === undefined ? '' : ` through the proxy ${hostAndPort(proxy)}`;
      try {
        if (proxy !== undefined) return await sendThroughProxy(request, signal, proxy);
        const agent = keptAgentFor(url.protocol);
        const isUsed = Object.keys(agent.freeSockets).length > 0;
        const mayBeSentTwice = method !== 'POST';
        return await (isUsed && mayBeSentTwice ? sendOnUsed : sendDirectly)(request, signal, agent);
      } catch (error) {
        throw error instanceof Broken ? error : broken(error, `${hostAndPort(url)}${through}`);
      }
    },
    close() {
      for (const agent of keptAgents.values()) agent.destroy();
      names.close();
    },
  };
}

/** The header that logs in to the proxy. tunnel would write it with a constructor that Node warns of on stderr (DEP0005). */
function takeLogin(proxy: TunnelAgent['proxyOptions']): OutgoingHttpHeaders {
  const { proxyAuth } = proxy;
  proxy.proxyAuth = undefined;
  return proxyAuth === undefined ? {} : { 'proxy-authorization': `Basic ${Buffer.from(proxyAuth).toString('base64')}` };
}

/** A client for one request, which gets these options in place of http-client's own. */
function clientFor(own: RequestOptions): HttpClient {
  const handler = {
    prepareRequest: (options: RequestOptions) => void Object.assign(options, own),
    canHandleAuthentication: () => false,
    handleAuthentication: () => Promise.reject(new Error('not used')),
  };
  const client = new HttpClient(undefined, [handler], {
    allowRedirects: false,
    keepAlive: true,
    // Its idle limit of 3 minutes would cut a longer request-timeout; ours is the signal.
    socketTimeout: noIdleLimit,
  });
  // The constructor would add ACTIONS_ORCHESTRATION_ID, which is none of the service's business.
  client.userAgent = userAgent;
  return client;
}

async function send({ method, url, headers, body, mostBytes }: Request, client: HttpClient): Promise<Answer> {
  // http-client does not decompress.
  const all = { ...headers, 'accept-encoding': 'identity' };
  const { message } = await client.request(method, url.href, body ?? null, all);
  return {
    status: message.statusCode ?? 0,
    headers: message.headers as Record<string, string | undefined>,
    body: await readBody(message, mostBytes),
  };
}

/** A URL writes an IPv6 address in brackets, a socket wants it without. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
