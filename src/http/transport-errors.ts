import { sanitizeLine } from '../text/sanitize-line.js';
import { TransportError } from './exchange.js';

type SystemError = NodeJS.ErrnoException & { readonly hostname?: string; readonly address?: string };

/** `peer`: the target host with its port. `neverSent`: whether the caller knows that the request was not sent. */
export function toTransportError(error: unknown, peer: string, neverSent = false): TransportError {
  const proxyStatus = /statusCode=(\d+)/.exec((error as Error).message)?.[1];
  if (proxyStatus === '407')
    return new TransportError('The proxy wants a login (status 407)', {
      transient: false,
      status: 407,
      mayHaveTakenEffect: false,
    });
  if (proxyStatus !== undefined)
    return new TransportError(`The proxy refused the tunnel with status ${proxyStatus}`, { mayHaveTakenEffect: false });
  // An AggregateError has one error for each address of the host.
  const all: readonly SystemError[] = error instanceof AggregateError ? error.errors : [error];
  const { message = '', code = '', hostname = '' } = all.at(-1) ?? {};
  const reason =
    reasons[code]?.replace('HOST', () => sanitizeLine(hostname, 100)).replace('PEER', () => peer) ??
    (code.startsWith('HPE_') ? 'The answer is not HTTP' : undefined);
  const codes = all.length > 1 ? all.map((each) => `${each.code} at ${each.address}`).join(', ') : code;
  return new TransportError(
    reason === undefined ? sanitizeLine(message) || code || 'No reason was given' : `${reason} (${codes})`,
    {
      cause: error,
      mayHaveTakenEffect: !(neverSent || all.every(isBeforeRequest)),
    },
  );
}

/** Node sends no request before the connection is open, the proxy has opened its tunnel, and the certificate is valid. */
function isBeforeRequest({ syscall = '', code = '', message }: SystemError): boolean {
  return (
    ['connect', 'getaddrinfo'].includes(syscall) ||
    message.includes('wrong version number') ||
    /CERT|SIGNATURE/.test(code)
  );
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused by PEER',
  ECONNRESET: 'The connection was reset by PEER',
  ENOTFOUND: 'The host name HOST is not known',
  EAI_AGAIN: 'The host name HOST could not be looked up',
  ETIMEDOUT: 'The connection to PEER could not be made in time',
  EHOSTUNREACH: 'The host of PEER cannot be reached',
  ENETUNREACH: 'The network of PEER cannot be reached',
  EPIPE: 'The connection was closed by PEER',
  EPROTO: 'The answer is not TLS: does the service speak plain http?',
  CERT_HAS_EXPIRED: 'The certificate of the service has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the service is self-signed: is NODE_EXTRA_CA_CERTS set?',
  SELF_SIGNED_CERT_IN_CHAIN: 'An authority of the certificate is not trusted: is NODE_EXTRA_CA_CERTS set?',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The authority of the certificate is not known: is NODE_EXTRA_CA_CERTS set?',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The authority of the certificate is not known: is NODE_EXTRA_CA_CERTS set?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the service is for another host name',
};
