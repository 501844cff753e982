import type { Agent, IncomingMessage } from 'node:http';
import { HttpClient } from '@actions/http-client';
import { getProxyUrl } from '@actions/http-client/lib/proxy';
import { longestTimer } from '../time/clock.js';
import { type ConnectOptions, keepAliveAgent } from './connect.js';
import { socketError, TransportError } from './errors.js';
import { type Exchange, type HttpRequest, type HttpResponse, userAgent } from './exchange.js';
import { proxyProblem } from './proxy.js';

/** Sends requests over sockets. Proxies and certificate authorities come from environment variables. */
export function httpExchange(): Exchange {
  // All requests of a step go to one origin.
  let agent: Agent | undefined;

  return async (request, onCancel) => {
    const { url } = request;
    const problem = proxyProblem(url);
    if (problem !== undefined) throw new TransportError(problem, { transient: false, mayHaveTakenEffect: false });
    const proxy = getProxyUrl(url);
    const controller = new AbortController();
    onCancel(() => {
      controller.abort();
      // After a request without a response, the other connections may be broken, too.
      agent = undefined;
    });
    const { signal } = controller;
    agent ??= keepAliveAgent(url.protocol);
    let isConnecting = false;
    const onConnecting = (is: boolean) => {
      isConnecting = is;
      request.onConnecting?.(is);
    };
    try {
      return await send(request, { agent, signal, connectSignal: signal, proxy, onConnecting });
    } catch (error) {
      if (!(error instanceof Error) || error instanceof TransportError) throw error;
      const through = proxy === undefined ? '' : ` through the proxy ${proxy.host}`;
      throw socketError(error, url.host + through, isConnecting);
    }
  };
}

/** `options` override those of http-client. */
async function send(request: HttpRequest, options: ConnectOptions): Promise<HttpResponse> {
  const handler = {
    prepareRequest: (prepared: ConnectOptions) => void Object.assign(prepared, options),
    canHandleAuthentication: () => false,
    handleAuthentication: () => Promise.reject(new Error('not used')),
  };
  // By default, http-client closes an idle socket after 3 minutes. A request has its own limit.
  const client = new HttpClient(undefined, [handler], { allowRedirects: false, socketTimeout: longestTimer });
  // HttpClient's constructor would append ACTIONS_ORCHESTRATION_ID, which the service does not need.
  client.userAgent = userAgent;
  // http-client cannot decompress responses, so the service must not compress them.
  const headers = { ...request.headers, 'accept-encoding': 'identity' };
  const { message } = await client.request(request.method, request.url.href, request.body ?? null, headers);
  return {
    status: message.statusCode ?? 0,
    headers: message.headers as Record<string, string | undefined>,
    body: await readBody(message, request.maxBytes),
  };
}

/** http-client's own `readBody()` never settles if the body is truncated, and copies the whole body for each chunk. */
async function readBody(message: IncomingMessage, maxBytes: number): Promise<string> {
  const { socket } = message;
  const chunks: Buffer[] = [];
  let length = 0;
  const closed = (cause?: unknown) =>
    new TransportError(`The connection closed after ${length} bytes of the body`, { cause });
  try {
    for await (const chunk of message) {
      length += chunk.length;
      if (length > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw closed(cause);
  }
  const tooLarge = `The response is larger than the maximum of ${maxBytes / 2 ** 20} MiB`;
  if (length > maxBytes) throw new TransportError(tooLarge);
  // Without a length, a reset ends the body like a usual end of the connection.
  if (!message.complete || socket.errored) throw closed(socket.errored);
  // TextDecoder removes a byte order mark, which JSON.parse would reject.
  return new TextDecoder().decode(Buffer.concat(chunks));
}
