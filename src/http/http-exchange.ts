import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type Socket, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { HttpClient } from '@actions/http-client';
import { getProxyUrl } from '@actions/http-client/lib/proxy';
import { sanitizeLine } from '../text/sanitize-line.js';
import { longestTimer } from '../time/clock.js';
import { RequestError } from './errors.js';
import { type Exchange, userAgent } from './exchange.js';
import { proxyProblem } from './proxy.js';

// If a host has several addresses, Node allows 250 ms for each, except for the last. A slow one needs more.
setDefaultAutoSelectFamilyAttemptTimeout(1_000);

/** Sends requests over sockets. Proxies and certificate authorities come from environment variables. */
export function httpExchange(): Exchange {
  // By default, http-client closes an idle socket after 3 minutes. A request has its own limit.
  const client = new HttpClient(undefined, [], { socketTimeout: longestTimer });
  // All requests of a step go to one origin, through the same proxy.
  let agent: http.Agent | undefined;

  return async ({ method, url, headers, body, maxBytes, progress = { isConnecting: false } }, onCancel) => {
    const problem = proxyProblem(url);
    if (problem !== undefined) throw new RequestError(problem, { transient: false, mayHaveTakenEffect: false });
    const proxy = getProxyUrl(url);
    const controller = new AbortController();
    onCancel(() => {
      controller.abort();
      // After a request without a response, the other connections may be broken, too.
      agent = undefined;
    });
    const { signal } = controller;
    agent ??= keepAliveAgent(url, proxy);
    const options: ConnectOptions = {
      method,
      host: url.hostname,
      port: url.port,
      path: url.pathname + url.search,
      // http-client cannot decompress responses, so the service must not compress them.
      headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': userAgent },
      agent,
      signal,
      connectSignal: signal,
      progress,
    };
    const httpModule = url.protocol === 'https:' ? https : http;
    try {
      // A raw request follows no redirect, and is sent once.
      const { message } = await client.requestRaw({ options, parsedUrl: url, httpModule }, body ?? null);
      return {
        status: message.statusCode ?? 0,
        headers: message.headers as Record<string, string | undefined>,
        body: await readBody(message, maxBytes),
      };
    } catch (error) {
      if (!(error instanceof Error) || error instanceof RequestError) throw error;
      const through = proxy === undefined ? '' : ` through the proxy ${proxy.host}`;
      throw socketError(error, url.host + through, progress.isConnecting);
    }
  };
}

/** http-client's own `readBody()` never settles if the body is truncated, and copies the whole body for each chunk. */
async function readBody(message: http.IncomingMessage, maxBytes: number): Promise<string> {
  const { socket } = message;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    length += chunk.length;
    if (length > maxBytes) throw new RequestError(`The response is larger than ${maxBytes / 2 ** 20} MiB`);
    chunks.push(chunk);
  }
  // Without a length, a reset ends the body like a usual end of the connection.
  if (!message.complete || socket.errored) throw new RequestError('The connection closed within the body');
  // TextDecoder removes a byte order mark, which JSON.parse would reject.
  return new TextDecoder().decode(Buffer.concat(chunks));
}

interface ConnectOptions extends https.RequestOptions {
  /** The same as `signal`, which Node does not pass to the agent. */
  readonly connectSignal: AbortSignal;
  readonly progress: { isConnecting: boolean };
}

/** Only https goes through proxies: base-url allows http for this machine alone. */
function keepAliveAgent({ protocol }: URL, proxy: URL | undefined): http.Agent {
  const isSecure = protocol === 'https:';
  const agent = new (isSecure ? https : http).Agent({ keepAlive: true });
  const createConnection = agent.createConnection.bind(agent);

  const connect = ({ progress, ...options }: ConnectOptions, tunnel?: Socket): Socket => {
    const host = withoutBrackets(options.host ?? '');
    const socket = createConnection({ ...options, host, socket: tunnel } as https.RequestOptions) as Socket;
    return socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      progress.isConnecting = false;
    });
  };

  agent.createConnection = (given, done) => {
    const options = given as ConnectOptions;
    options.progress.isConnecting = true;
    if (proxy === undefined) return connect(options);
    const callback = done as (error: Error | null, socket?: Socket) => void;
    openTunnel(proxy, options)
      .then((tunnel) => connect(options, tunnel))
      .then((socket) => callback(null, socket), callback);
    return undefined;
  };
  return agent;
}

/** Sends CONNECT to the proxy. Its errors prove that the request was not sent, because nothing has gone through the tunnel. */
function openTunnel(proxy: URL, { host, port, connectSignal }: ConnectOptions): Promise<Socket> {
  const { username, password } = proxy;
  const login = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const target = `${host}:${port}`;
  const proxyHost = withoutBrackets(proxy.hostname);
  const options = {
    method: 'CONNECT',
    host: proxyHost,
    port: proxy.port,
    path: target,
    headers: { host: target, ...(username || password ? { 'proxy-authorization': login } : {}) },
    // By default, Node compares the certificate with the `host` header, which names the target.
    servername: isIP(proxyHost) === 0 ? proxyHost : '',
    signal: connectSignal,
    agent: false,
  } as const;
  const { request } = proxy.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const connecting = request(options).end();
    connecting.on('error', (error) => reject(socketError(error, `the proxy ${proxy.host}`, true)));
    connecting.on('connect', ({ statusCode: status = 0 }, socket) => {
      if (status === 200) return resolve(socket as Socket);
      socket.destroy();
      const message = `The proxy ${proxy.host} rejected the tunnel with status ${status}`;
      const final = status === 407 ? { status, transient: false } : {};
      reject(new RequestError(message, { mayHaveTakenEffect: false, ...final }));
    });
  });
}

/** A URL puts an IPv6 address in brackets, but a socket needs the address alone. */
const withoutBrackets = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

/** `peer`: the host or the proxy at the other end. */
function socketError(cause: NodeJS.ErrnoException, peer: string, isUnsent: boolean): RequestError {
  // An AggregateError has no message, and one error for each address of the host.
  const { message, code = '' } = cause instanceof AggregateError ? cause.errors.at(-1) : cause;
  // OpenSSL's text names lines of its source.
  const reason = /EPROTO|SSL/.test(code) ? 'TLS failed' : message;
  const what = isUnsent ? `Could not connect to ${peer}` : `The connection to ${peer} failed`;
  const shown = sanitizeLine(reason.includes(code) ? reason : `${reason} (${code})`);
  return new RequestError(`${what}: ${shown}`, { cause, mayHaveTakenEffect: !isUnsent });
}
