import { sanitizeLine } from '../text/sanitize-line.js';
import { formatDuration } from '../time/duration.js';

/** A failed request to the control API or to GitHub. The message is for users and contains no secret. */
export class RequestError extends Error {
  /** HTTP status. Undefined if no complete response arrived. */
  readonly status: number | undefined;
  readonly transient: boolean = false;
  /** True if a retry may help at any time before the deadline. */
  readonly isUntilDeadline: boolean = false;
  readonly retryAfterMs: number | undefined;
  /** True if the service may have carried out the request despite the error. */
  readonly mayHaveTakenEffect: boolean = false;
  /** True if the response is an HTML page. A proxy may have sent the page, so it proves nothing about the service. */
  readonly isPage: boolean = false;
  /** True if no whole response arrived in time. */
  readonly isSilence: boolean = false;

  constructor(message: string, details: RequestErrorOptions, options?: ErrorOptions) {
    super(message, options);
    Object.assign(this, details);
  }

  /** True if the service asks the client to retry later. Such a request is repeated until the deadline. */
  get isThrottled(): boolean {
    return this.status === 423 || this.status === 429 || this.isServiceStatus(425);
  }

  /** True if the service itself sent the status. False for an HTML page, because a proxy may have sent it. */
  isServiceStatus(status: number): boolean {
    return this.status === status && !this.isPage;
  }

  /** True if no request of this kind can be sent, for example because a proxy variable is invalid. */
  get isUnsendable(): boolean {
    return this.status === undefined && !this.transient && !this.mayHaveTakenEffect;
  }

  /** True for a 4xx that a retry cannot change. False for an HTML page, unless it is a proxy's 407. */
  get isPermanent(): boolean {
    return this.status !== undefined && this.status >= 400 && this.status < 500 && !this.transient;
  }
}

export type RequestErrorOptions = Pick<RequestError, 'transient'> &
  Partial<
    Pick<RequestError, 'status' | 'retryAfterMs' | 'isUntilDeadline' | 'mayHaveTakenEffect' | 'isPage' | 'isSilence'>
  >;

/** No complete response arrived. Unless `details` say otherwise, a retry may help, and the request may have taken effect. */
export class TransportError extends RequestError {
  constructor(message: string, details: Partial<RequestErrorOptions> & ErrorOptions = {}) {
    super(message, { transient: true, mayHaveTakenEffect: true, ...details }, details);
  }
}

export class RetryAfterExceedsDeadline extends RequestError {
  constructor(error: RequestError, remaining: number) {
    const asked = formatDuration(error.retryAfterMs ?? 0);
    const message = `${error.message}. The response asks to wait ${asked}, but only ${formatDuration(remaining)} remain`;
    super(message, error, { cause: error });
  }
}

/** An error that is no bug of the action. The report adds no advice, because the message already gives it. */
export class UserError extends Error {}

type SystemError = NodeJS.ErrnoException & { readonly hostname?: string; readonly address?: string };

/** `peer`: host and port of the target. `neverSent`: true if the caller knows that the request was not sent. */
export function toTransportError(error: unknown, peer: string, neverSent = false): TransportError {
  // An AggregateError has one error for each address of the host.
  const all: readonly SystemError[] = error instanceof AggregateError ? error.errors : [error];
  const { message = '', code = '', hostname = '' } = all.at(-1) ?? {};
  const reason =
    reasons[code]?.replace('HOST', () => sanitizeLine(hostname, 100)).replace('PEER', () => peer) ??
    (code.startsWith('HPE_') ? 'The response is not HTTP' : undefined);
  const codes = all.length > 1 ? all.map((each) => `${each.code} at ${each.address}`).join(', ') : code;
  const text = reason === undefined ? sanitizeLine(message) || code || 'Unknown network error' : `${reason} (${codes})`;
  return new TransportError(text, {
    cause: error,
    mayHaveTakenEffect: !(neverSent || all.every(isBeforeRequest)),
  });
}

/** `status`: the status of the response to CONNECT. After a 200, the proxy must send no bytes of its own. */
export function tunnelError(status: number | undefined): TransportError {
  const unsent = { mayHaveTakenEffect: false };
  if (status === 407)
    return new TransportError('The proxy requires a login (status 407)', { ...unsent, transient: false, status });
  if (status !== 200) return new TransportError(`The proxy rejected the tunnel with status ${status}`, unsent);
  return new TransportError('The proxy accepted the tunnel, but then sent a response of its own', unsent);
}

export function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/** True if the name lookup, the connection or the TLS handshake failed. Node sends the request only after these steps. */
function isBeforeRequest({ syscall = '', code = '' }: SystemError): boolean {
  return ['connect', 'getaddrinfo'].includes(syscall) || /CERT|SIGNATURE/.test(code);
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'Connection refused by PEER',
  ECONNRESET: 'Connection reset by PEER',
  ENOTFOUND: 'The host name HOST was not found',
  EAI_AGAIN: 'Could not look up the host name HOST',
  ETIMEDOUT: 'The connection to PEER timed out',
  EHOSTUNREACH: 'PEER is unreachable',
  ENETUNREACH: 'The network of PEER is unreachable',
  EPIPE: 'Connection closed by PEER',
  ECANCELED: 'The connection to PEER was closed',
  ECONNABORTED: 'The connection to PEER was aborted',
  EPROTO: 'The response is not TLS: does the port serve plain http?',
  CERT_HAS_EXPIRED: 'The certificate of the service has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the service is self-signed: is NODE_EXTRA_CA_CERTS set?',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate chain ends in an untrusted authority: is NODE_EXTRA_CA_CERTS set?',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate is from an unknown authority: is NODE_EXTRA_CA_CERTS set?',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate is from an unknown authority: is NODE_EXTRA_CA_CERTS set?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the service is for another host name',
};
