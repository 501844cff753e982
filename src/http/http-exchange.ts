import type { Agent, ClientRequest, OutgoingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { HttpClient } from '@actions/http-client';
import { getProxyUrl } from '@actions/http-client/lib/proxy';
import { longestTimer } from '../time/clock.js';
import { agentFor, type ConnectOptions } from './connect.js';
import { type Exchange, type HttpRequest, type HttpResponse, TransportError } from './exchange.js';
import { lookupInProcess } from './name-lookup.js';
import { proxyProblem } from './proxy.js';
import { readBody } from './read-body.js';
import { toTransportError } from './transport-errors.js';
import { userAgent } from './user-agent.js';

const closedConnectionCodes = ['ECONNRESET', 'EPIPE'];

/** http-client's agent for a proxy. `request` sends CONNECT to the proxy. */
interface TunnelAgent {
  readonly proxyOptions: { proxyAuth?: string | undefined };
  request(options: ConnectOptions): ClientRequest;
}

/** Exchanges over sockets. Uses the proxies and certificate authorities that the environment names. */
export function httpExchange(names = lookupInProcess): { exchange: Exchange; close(): void } {
  const keptAgents = new Map<string, Agent>();

  const keptAgentFor = (protocol: string): Agent => {
    const agent = keptAgents.get(protocol) ?? agentFor(protocol, names, true);
    keptAgents.set(protocol, agent);
    return agent;
  };

  const sendDirectly = (request: HttpRequest, signal: AbortSignal, agent: Agent): Promise<HttpResponse> =>
    send(request, clientFor({ agent, signal, connectSignal: signal, host: socketHost(request.url) }));

  /** Sends on an idle connection. If the service closes it at that moment, sends once more on a new one. */
  const sendOnKeptConnection: typeof sendDirectly = async (request, signal, agent) => {
    try {
      return await sendDirectly(request, signal, agent);
    } catch (error) {
      if (!closedConnectionCodes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      try {
        const response = await sendDirectly(request, signal, agentFor(request.url.protocol, names, false));
        return { ...response, wasResent: true };
      } catch (secondError) {
        // It may say that the second request was never sent. That proves nothing about the first, so report the first.
        throw secondError instanceof TransportError ? secondError : error;
      }
    }
  };

  const sendThroughProxy = async (request: HttpRequest, signal: AbortSignal, proxy: URL): Promise<HttpResponse> => {
    const client = clientFor({ signal });
    const tunnel = client.getAgent(request.url.href) as unknown as TunnelAgent;
    const login = takeLogin(tunnel.proxyOptions);
    const requestTunnel = tunnel.request;
    const tunnelFailed = new Promise<never>((_, reject) => {
      tunnel.request = (options) => {
        const host = socketHost(proxy);
        const connectRequest = requestTunnel({
          ...options,
          headers: { ...options.headers, ...login },
          agent: agentFor(proxy.protocol, names, false),
          // A proxy may accept the connection and never answer CONNECT. Only this signal ends such a request.
          signal,
          connectSignal: signal,
          host,
          // By default, Node would expect the certificate of the target host, which the `host` header names.
          servername: isIP(host) === 0 ? host : '',
        });
        const fail = (error: Error) => reject(toTransportError(error, `the proxy ${hostAndPort(proxy)}`, true));
        return connectRequest.once('error', fail);
      };
    });
    // The package tunnel fails the request with an error of its own, whose code is always ECONNRESET.
    return await Promise.race([tunnelFailed, send(request, client)]);
  };

  return {
    async exchange(request, onCancel) {
      const { url, method } = request;
      const controller = new AbortController();
      onCancel(() => controller.abort());
      const { signal } = controller;
      const problem = proxyProblem(url);
      if (problem !== undefined) throw new TransportError(problem, { transient: false, mayHaveTakenEffect: false });
      const proxy = getProxyUrl(url);
      const through = proxy === undefined ? '' : ` through the proxy ${hostAndPort(proxy)}`;
      try {
        if (proxy !== undefined) return await sendThroughProxy(request, signal, proxy);
        const agent = keptAgentFor(url.protocol);
        const isUsed = Object.keys(agent.freeSockets).length > 0;
        const mayBeSentTwice = method !== 'POST';
        return await (isUsed && mayBeSentTwice ? sendOnKeptConnection : sendDirectly)(request, signal, agent);
      } catch (error) {
        throw error instanceof TransportError ? error : toTransportError(error, `${hostAndPort(url)}${through}`);
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
function clientFor(ownOptions: ConnectOptions): HttpClient {
  const handler = {
    prepareRequest: (options: ConnectOptions) => void Object.assign(options, ownOptions),
    canHandleAuthentication: () => false,
    handleAuthentication: () => Promise.reject(new Error('not used')),
  };
  const client = new HttpClient(undefined, [handler], {
    allowRedirects: false,
    keepAlive: true,
    // http-client's idle timeout of 3 minutes would cut a longer request-timeout. The signal enforces request-timeout.
    socketTimeout: longestTimer,
  });
  // The constructor would append ACTIONS_ORCHESTRATION_ID. The service has no need for it.
  client.userAgent = userAgent;
  return client;
}

async function send({ method, url, headers, body, maxBytes }: HttpRequest, client: HttpClient): Promise<HttpResponse> {
  // http-client does not decompress responses.
  const all = { ...headers, 'accept-encoding': 'identity' };
  const { message } = await client.request(method, url.href, body ?? null, all);
  return {
    status: message.statusCode ?? 0,
    headers: message.headers as Record<string, string | undefined>,
    body: await readBody(message, maxBytes),
  };
}

/** A URL has brackets around an IPv6 address. A socket needs it without them. */
function socketHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
