import type { IncomingMessage, RequestOptions } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { HttpClient } from '@actions/http-client';
import { checkBypass, getProxyUrl } from '@actions/http-client/lib/proxy';
import { plain } from '../text/plain.js';
import { type Answer, Broken, type Exchange, type Request } from './exchange.js';

/** A long text is kept apart from the short-lived ones, which are copied again and again. */
const chunksAtOnce = 64;
const noIdleLimit = 2 ** 31 - 1;
const closed = ['ECONNRESET', 'EPIPE'];

/** That of Node, or of http-client for a tunnel. */
interface OurAgent {
  readonly freeSockets?: object;
  readonly proxyOptions?: { signal?: AbortSignal };
}

/** Exchanges over sockets, with the proxies and authorities that the environment names. */
export function httpExchange(): { exchange: Exchange; close(): void } {
  let signal: AbortSignal | undefined;
  let isAnew = false;
  // http-client asks its handlers while `request()` is still on the stack, so these are of the request at hand.
  const prepare = {
    prepareRequest(options: RequestOptions) {
      if (signal !== undefined) options.signal = signal;
      if (isAnew) options.agent = false;
      // A URL writes an IPv6 address in brackets, a socket wants it without.
      if (options.host) options.host = options.host.replace(/^\[(.*)\]$/, '$1');
    },
    canHandleAuthentication: () => false,
    handleAuthentication: () => Promise.reject(new Error('not used')),
  };
  const client = new HttpClient('ctl-action', [prepare], {
    allowRedirects: false,
    keepAlive: true,
    // Its idle limit of 3 minutes would cut a longer request-timeout; ours is the signal.
    socketTimeout: noIdleLimit,
  });

  const send = async (request: Request, ofThis: AbortSignal): Promise<Answer> => {
    signal = ofThis;
    const { message } = await client.request(request.method, request.url.href, request.body ?? null, request.headers);
    return {
      status: message.statusCode ?? 0,
      headers: message.headers as Record<string, string | undefined>,
      body: await readBody(message, request.mostBytes),
    };
  };

  /** The service may close a connection in the moment in which it is used again: then a new one is made. */
  const sendOnUsed = async (request: Request, ofThis: AbortSignal): Promise<Answer> => {
    try {
      return await send(request, ofThis);
    } catch (error) {
      if (!closed.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      isAnew = true;
      const sending = send(request, ofThis);
      isAnew = false;
      return await sending.then(
        (answer) => ({ ...answer, isToRepeat: true }),
        (again) => {
          // That the second one never left says nothing about the first.
          throw again instanceof Broken ? again : error;
        },
      );
    }
  };

  return {
    async exchange(request, onStop) {
      const controller = new AbortController();
      onStop(() => controller.abort());
      try {
        refuseBadProxy(request.url);
        const agent = client.getAgent(request.url.href) as OurAgent;
        // A proxy that takes CONNECT and stays silent is left by this signal alone.
        if (agent.proxyOptions !== undefined) agent.proxyOptions.signal = controller.signal;
        const isUsed = Object.keys(agent.freeSockets ?? {}).length > 0;
        const mayBeSentTwice = request.method !== 'POST';
        return await (isUsed && mayBeSentTwice ? sendOnUsed : send)(request, controller.signal);
      } catch (error) {
        throw error instanceof Broken ? error : broken(error);
      }
    },
    close: () => client.dispose(),
  };
}

/** http-client goes past a proxy whose variable it cannot read, without a word. */
function refuseBadProxy(url: URL): void {
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  if (!(process.env[name] || process.env[name.toUpperCase()]) || checkBypass(url)) return;
  try {
    if (getProxyUrl(url) !== undefined) return;
  } catch {
    // Its error would quote the variable, which can hold a password.
  }
  throw new Broken(`${name} is no usable URL; are user and password percent-encoded?`, {
    transient: false,
    unclear: false,
  });
}

/** http-client's own `readBody()` never settles where a body is cut, and copies all it has for every chunk. */
function readBody(message: IncomingMessage, mostBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    // Piece by piece: the bytes of a large body need not be held together beside its text.
    const decoder = new StringDecoder('utf8');
    let text = '';
    let pending: Buffer[] = [];
    let length = 0;
    let isRead = false;
    const decode = () => {
      text += decoder.write(Buffer.concat(pending));
      pending = [];
    };
    const cut = (cause?: Error) => {
      if (isRead) return;
      reject(new Broken(`The connection was cut after ${length} bytes of the body`, { cause }));
    };
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      pending.push(chunk);
      if (pending.length === chunksAtOnce) decode();
      if (length <= mostBytes) return;
      reject(new Broken(`The body is larger than ${mostBytes / 2 ** 20} MiB and was refused`, { transient: false }));
      message.destroy();
    });
    message.on('end', () => {
      if (!message.complete) return cut();
      isRead = true;
      decode();
      resolve(withoutMark(text + decoder.end()));
    });
    message.on('aborted', cut);
    message.on('error', cut);
    message.on('close', cut);
  });
}

/** Some servers begin a text with a mark of its order of bytes. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function broken(error: unknown): Broken {
  const { message, code = '', hostname = '' } = error as NodeJS.ErrnoException & { hostname?: string };
  const ofProxy = /statusCode=(\d+)/.exec(message)?.[1];
  if (ofProxy === '407')
    return new Broken('The proxy wants a login (status 407)', { transient: false, status: 407, unclear: false });
  if (ofProxy !== undefined)
    return new Broken(`The proxy refused the tunnel with status ${ofProxy}`, { unclear: false });
  const said =
    reasons[code]?.replace('HOST', plain(hostname, 100)) ??
    (code.startsWith('HPE_') ? 'The answer is not HTTP' : undefined);
  return new Broken(said === undefined ? plain(message) || code || 'No reason was given' : `${said} (${code})`, {
    cause: error,
    unclear: !neverSent(error as NodeJS.ErrnoException),
  });
}

/** Nothing of a request goes out before there is a connection, a tunnel through the proxy, and a certificate that holds. */
function neverSent(error: NodeJS.ErrnoException): boolean {
  const { syscall = '', code = '', message } = error;
  return (
    error instanceof AggregateError ||
    ['connect', 'getaddrinfo'].includes(syscall) ||
    message.startsWith('tunneling socket') ||
    message.includes('wrong version number') ||
    /CERT|SIGNATURE/.test(code)
  );
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused',
  ECONNRESET: 'The connection was reset',
  ENOTFOUND: 'The host name HOST is not known',
  EAI_AGAIN: 'The host name HOST could not be looked up',
  ETIMEDOUT: 'The connection could not be made in time',
  EHOSTUNREACH: 'The host cannot be reached',
  ENETUNREACH: 'The network cannot be reached',
  EPIPE: 'The connection was closed',
  EPROTO: 'The answer is not TLS: does the service speak plain http?',
  CERT_HAS_EXPIRED: 'The certificate of the service has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the service is self-signed: is NODE_EXTRA_CA_CERTS set?',
  SELF_SIGNED_CERT_IN_CHAIN: 'An authority of the certificate is not trusted: is NODE_EXTRA_CA_CERTS set?',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The authority of the certificate is not known: is NODE_EXTRA_CA_CERTS set?',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The authority of the certificate is not known: is NODE_EXTRA_CA_CERTS set?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the service is for another host name',
};
