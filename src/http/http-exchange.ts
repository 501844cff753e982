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

/** Milliseconds: the longest timer of Node. */
const noIdleLimit = 2 ** 31 - 1;
const closed = ['ECONNRESET', 'EPIPE'];

/** http-client's agent for a proxy. `request` sends CONNECT to the proxy. */
interface TunnelAgent {
  readonly proxyOptions: { proxyAuth?: string | undefined };
  request(options: RequestOptions): ClientRequest;
}

/** Exchanges over sockets. Uses the proxies and certificate authorities that the environment names. */
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

  /** Sends on an idle connection. If the service closes it at that moment, sends once more on a new one. */
  const sendOnUsed = async (request: Request, signal: AbortSignal, agent: Agent): Promise<Answer> => {
    try {
      return await sendDirectly(request, signal, agent);
    } catch (error) {
      if (!closed.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      return await sendDirectly(request, signal, agentFor(request.url.protocol, names, false)).then(
        (answer) => ({ ...answer, isToRepeat: true }),
        (again) => {
          // `again` may say that the second request was never sent. That proves nothing about the first, so report the first.
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
        // Only this signal ends a CONNECT that the proxy accepts and never answers.
        signal,
        connectSignal: signal,
        host,
        // By default, Node would expect the certificate of the target host, which the `host` header names.
        servername: isIP(host) === 0 ? host : '',
      };
      // The package tunnel replaces this error with another one, whose code is always ECONNRESET.
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

/** The login header for the proxy. The package tunnel would build it with `new Buffer`: Node prints a warning (DEP0005). */
function takeLogin(proxy: TunnelAgent['proxyOptions']): OutgoingHttpHeaders {
  const { proxyAuth } = proxy;
  proxy.proxyAuth = undefined;
  return proxyAuth === undefined ? {} : { 'proxy-authorization': `Basic ${Buffer.from(proxyAuth).toString('base64')}` };
}

/** A client for one request. These options override http-client's own. */
function clientFor(own: RequestOptions): HttpClient {
  const handler = {
    prepareRequest: (options: RequestOptions) => void Object.assign(options, own),
    canHandleAuthentication: () => false,
    handleAuthentication: () => Promise.reject(new Error('not used')),
  };
  const client = new HttpClient(undefined, [handler], {
    allowRedirects: false,
    keepAlive: true,
    // http-client's idle timeout of 3 minutes would cut a longer request-timeout. The signal enforces request-timeout.
    socketTimeout: noIdleLimit,
  });
  // The constructor would append ACTIONS_ORCHESTRATION_ID. The service has no need for it.
  client.userAgent = userAgent;
  return client;
}

async function send({ method, url, headers, body, mostBytes }: Request, client: HttpClient): Promise<Answer> {
  // http-client does not decompress responses.
  const all = { ...headers, 'accept-encoding': 'identity' };
  const { message } = await client.request(method, url.href, body ?? null, all);
  return {
    status: message.statusCode ?? 0,
    headers: message.headers as Record<string, string | undefined>,
    body: await readBody(message, mostBytes),
  };
}

/** A URL has brackets around an IPv6 address. A socket needs it without them. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
