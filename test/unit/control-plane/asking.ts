import { Agent, type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { PlaneAnswer, PlaneRequest } from '../../control-plane/index.js';
import type { ControlPlane } from '../../control-plane/plane.js';

export interface Ask {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request as an in-memory network would bring it. */
export function planeRequest(target: string, { method = 'GET', key, headers = {}, body = '' }: Ask = {}): PlaneRequest {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return { method, target, headers: { ...authorization, ...headers }, body, from: '192.0.2.1' };
}

/** With the plane's first key, unless told otherwise. */
export function ask(plane: ControlPlane, target: string, { key = plane.apiKey, ...rest }: Ask = {}): PlaneAnswer {
  return plane.handle(planeRequest(target, { key, ...rest }));
}

export const json = { 'content-type': 'application/json' };

export function createKey(plane: ControlPlane, name: string, key = plane.apiKey): { id: number; key: string } {
  const body = JSON.stringify({ key_name: name });
  return JSON.parse(ask(plane, '/v2/api_keys', { method: 'POST', headers: json, body, key }).body);
}

/** What a client on a socket got to see, up to the end or to the error that ended it. */
export interface Seen {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly error: string | undefined;
}

export interface Fetch extends Ask {
  readonly agent?: Agent;
  readonly ca?: string;
  readonly signal?: AbortSignal;
  /** Called with what has come so far of the body, and once before, with the headers. */
  readonly onProgress?: (body: string) => void;
}

/** Never rejects: how an exchange ends is what these tests are about. */
export function fetchRaw(url: string, options: Fetch = {}): Promise<Seen> {
  const { method = 'GET', headers, body } = planeRequest('', options);
  const { agent = new Agent({ keepAlive: false }), ca, signal, onProgress = () => {} } = options;
  const request = url.startsWith('https:')
    ? tlsRequest(url, { method, headers, ca })
    : plainRequest(url, { method, headers, agent, ...(signal ? { signal } : {}) });
  return new Promise((resolve) => {
    const seen = { status: undefined as number | undefined, headers: {}, body: '' };
    const end = (error?: NodeJS.ErrnoException) => resolve({ ...seen, error: error?.message });
    request.on('error', end);
    request.on('response', (response) => {
      Object.assign(seen, { status: response.statusCode, headers: response.headers });
      onProgress('');
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        seen.body += text;
        onProgress(seen.body);
      });
      response.on('error', end);
      response.on('end', () => end());
    });
    request.end(body);
  });
}
