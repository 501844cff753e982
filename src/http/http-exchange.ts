import type { Agent, ClientRequest, OutgoingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { HttpClient } from '@actions/http-client';
import { getProxyUrl } from '@actions/http-client/lib/proxy';
import { longestTimer } from '../time/clock.js';
import { agentFor, type ConnectOptions, lookupInProcess } from './connect.js';
import { type Exchange, type HttpRequest, type HttpResponse, TransportError, userAgent } from './exchange.js';
import { proxyProblem } from './proxy.js';
import { readBody } from './read-body.js';
import { toTransportError } from './transport-errors.js';

/** On Windows, a closed connection may have either of the last two. */
const closedConnectionCodes = ['ECONNRESET', 'EPIPE', 'ECANCELED', 'ECONNABORTED'];

/** http-client's agent for a proxy. Its `request` sends CONNECT to the proxy. */
interface TunnelAgent {
  readonly proxyOptions: { proxyAuth?: string | undefined };
  request(options: ConnectOptions): ClientRequest;
}

/** Sends requests over sockets. Proxies and certificate authorities come from environment variables. */
export function httpExchange(names = lookupInProcess): { exchange: Exchange; close(): void } {
  const keptAgents = { http: agentFor('http:', names, true), https: agentFor('https:', names, true) };

  const sendDirectly = (request: HttpRequest, signal: AbortSignal, agent: Agent): Promise<HttpResponse> =>
    send(request, clientFor({ agent, signal, connectSignal: signal, host: socketHost(request.url) }));

  const sendOnNewConnection = (request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> =>
    sendDirectly(request, signal, agentFor(request.url.protocol, names, false));

  /** Uses an idle keep-alive connection. If the service has just closed that connection, retries once on a new one. */
  const sendOnKeptConnection: typeof sendDirectly = async (request, signal, agent) => {
    try {
      return await sendDirectly(request, signal, agent);
    } catch (error) {
      if (!closedConnectionCodes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      try {
        return { ...(await sendOnNewConnection(request, signal)), wasResent: true };
      } catch (secondError) {
        // After a system error, the second request may not have been sent, but the first one may have taken effect.
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
          // A proxy may accept the connection and never respond to CONNECT. Only the signal ends such a request.
          signal,
          connectSignal: signal,
          host,
          // By default, Node compares the proxy's certificate with the `host` header, which names the target.
          servername: isIP(host) === 0 ? host : '',
        });
        const fail = (error: Error) => reject(toTransportError(error, `the proxy ${hostAndPort(proxy)}`, true));
        return connectRequest.once('error', fail);
      };
    });
    // The `tunnel` package reports every failure as ECONNRESET, so `tunnelFailed` reports the real error first.
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
        if (request.onNewConnection) return await sendOnNewConnection(request, signal);
        const agent = url.protocol === 'https:' ? keptAgents.https : keptAgents.http;
        const isUsed = Object.keys(agent.freeSockets).length > 0;
        const mayBeSentTwice = method !== 'POST';
        return await (isUsed && mayBeSentTwice ? sendOnKeptConnection : sendDirectly)(request, signal, agent);
      } catch (error) {
        throw error instanceof TransportError ? error : toTransportError(error, `${hostAndPort(url)}${through}`);
      }
    },
    close() {
      for (const agent of Object.values(keptAgents)) agent.destroy();
      names.close();
    },
  };
}

/** Returns the proxy's login header. The `tunnel` package would use `new Buffer`, for which Node prints a warning. */
function takeLogin(proxy: TunnelAgent['proxyOptions']): OutgoingHttpHeaders {
  const { proxyAuth } = proxy;
  proxy.proxyAuth = undefined;
  return proxyAuth === undefined ? {} : { 'proxy-authorization': `Basic ${Buffer.from(proxyAuth).toString('base64')}` };
}

/** A client for one request. `ownOptions` override the options of http-client. */
function clientFor(ownOptions: ConnectOptions): HttpClient {
  const handler = {
    prepareRequest: (options: ConnectOptions) => void Object.assign(options, ownOptions),
    canHandleAuthentication: () => false,
    handleAuthentication: () => Promise.reject(new Error('not used')),
  };
  const client = new HttpClient(undefined, [handler], {
    allowRedirects: false,
    keepAlive: true,
    // By default, http-client closes an idle socket after 3 minutes, but `request-timeout` may be longer.
    socketTimeout: longestTimer,
  });
  // HttpClient's constructor would append ACTIONS_ORCHESTRATION_ID, which the service does not need.
  client.userAgent = userAgent;
  return client;
}

async function send({ method, url, headers, body, maxBytes }: HttpRequest, client: HttpClient): Promise<HttpResponse> {
  // http-client cannot decompress responses, so the service must not compress them.
  const ownHeaders = { ...headers, 'accept-encoding': 'identity' };
  const { message } = await client.request(method, url.href, body ?? null, ownHeaders);
  return {
    status: message.statusCode ?? 0,
    headers: message.headers as Record<string, string | undefined>,
    body: await readBody(message, maxBytes),
  };
}

/** A URL puts an IPv6 address in brackets, but a socket needs the address alone. */
function socketHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
