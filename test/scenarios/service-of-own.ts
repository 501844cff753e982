import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'vitest';

export interface ServiceOfOwn {
  readonly baseUrl: string;
  /** Path and query of each request below `/v2`, in order. */
  readonly paths: readonly string[];
}

/** A service whose bodies are as the test writes them, to the digit: one text for all, or one for each path. */
export async function serve(
  { onTestFinished }: TestContext,
  bodyFor: string | ((path: string, n: number) => string),
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
): Promise<ServiceOfOwn> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/v2\//, '');
    paths.push(path);
    response.writeHead(200, headers).end(typeof bodyFor === 'string' ? bodyFor : bodyFor(path, paths.length));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`, paths };
}
