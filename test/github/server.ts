import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../control-plane/index.js';
import type { Answer, GitHubApi } from './api.js';
import type { Fault, FaultPlan } from './faults.js';
import type { LoggedRequest, RequestLog } from './request-log.js';

export interface ServerParts {
  readonly api: GitHubApi;
  readonly faults: FaultPlan;
  readonly log: RequestLog;
  readonly clock: Clock;
}

export interface RunningServer {
  readonly origin: string;
  /** Cuts every connection at once. */
  close(): Promise<void>;
}

export async function startServer({ api, faults, log, clock }: ServerParts): Promise<RunningServer> {
  const server = createServer((message, response) => {
    message.resume();
    const { method = '', url: target = '', headers } = message;
    const fault = faults.decide(target);
    const request: LoggedRequest = { method, path: target, headers, fault: fault?.kind, status: undefined };
    log.record(request);
    play(api.answer({ method, target, headers }, fault), fault, response, clock, (status) => {
      request.status = status;
    });
  });
  // Whatever ends a connection here shall be a fault someone asked for.
  server.keepAliveTimeout = 0;
  server.headersTimeout = 0;
  server.requestTimeout = 0;

  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function play(
  { status, headers, body }: Answer,
  fault: Fault | undefined,
  response: ServerResponse,
  clock: Clock,
  headSent: (status: number) => void,
): void {
  const sendHead = () => {
    headSent(status);
    response.writeHead(status, headers);
  };
  const sendAll = () => {
    sendHead();
    response.end(body);
  };
  switch (fault?.kind) {
    case 'hang-before-headers':
      break;
    case 'cut-before-headers':
      response.destroy();
      break;
    case 'cut-mid-body':
      sendHead();
      // Cut when the half has left: a cut throws away what is still in a buffer.
      response.write(body.slice(0, body.length / 2), () => response.destroy());
      break;
    case 'delay': {
      const cancel = clock.schedule(fault.ms, sendAll);
      response.on('close', cancel);
      break;
    }
    default:
      sendAll();
  }
}
