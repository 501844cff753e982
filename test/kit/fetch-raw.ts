import { Agent, type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';

export interface Fetch {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly ca?: string;
}

/** What a client on a socket sees until the end, or until the error that ended it. */
export interface Seen {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly error: string | undefined;
}

/** One request on a connection of its own. Never rejects. */
export function fetchRaw(url: string, { method = 'GET', key, headers, body, ca }: Fetch = {}): Promise<Seen> {
  const all = { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers };
  const request = url.startsWith('https:')
    ? tlsRequest(url, { method, headers: all, ca })
    : plainRequest(url, { method, headers: all, agent: new Agent({ keepAlive: false }) });
  return new Promise((resolve) => {
    const seen = { status: undefined as number | undefined, headers: {}, body: '' };
    const end = (error?: NodeJS.ErrnoException) => resolve({ ...seen, error: error?.message });
    request.on('error', end);
    request.on('response', (response) => {
      Object.assign(seen, { status: response.statusCode, headers: response.headers });
      response.setEncoding('utf8').on('data', (text: string) => {
        seen.body += text;
      });
      response.on('error', end);
      response.on('end', () => end());
    });
    request.end(body);
  });
}
