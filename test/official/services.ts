import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one worker tells the service of its job. */
export interface Reports {
  /** Logs and summaries by the id of their step, as users see them; the log of the whole job as `job`. */
  readonly logs: Readonly<Record<string, string>>;
  readonly summaries: Readonly<Record<string, string>>;
  /** How the job ended; none where the worker did not get so far. */
  readonly completion: Completion | undefined;
  /** The bodies of all requests: whatever left the machine of the runner. */
  readonly received: readonly string[];
}

export type Conclusion = 'succeeded' | 'failed' | 'canceled' | 'skipped';

export interface Completion {
  readonly conclusion: Conclusion;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly stepResults: readonly ReportedStep[];
}

interface ReportedStep {
  readonly external_id: string;
  readonly name: string;
  readonly conclusion: Conclusion;
  readonly started_at: string;
  readonly completed_at: string;
  readonly annotations: readonly Annotation[];
}

export interface Annotation {
  readonly level: 'notice' | 'warning' | 'failure';
  readonly message: string;
}

export interface Services {
  readonly url: string;
  readonly reports: Reports;
  close(): Promise<void>;
}

/** Plays GitHub for one worker: hands out the action, and takes logs, summaries and the end of the job. */
export async function startServices(action: Buffer): Promise<Services> {
  const logs: Record<string, string> = {};
  const summaries: Record<string, string> = {};
  const received: string[] = [];
  let completion: Completion | undefined;

  const blob = (kind: 'logs' | 'summary', id = 'job') => ({
    [`${kind}_url`]: `${url}${kind}/${id}?blob`,
    blob_storage_type: 'BLOB_STORAGE_TYPE_UNSPECIFIED',
    soft_size_limit: 1_048_576,
  });
  const respond = (path: string, body: string): unknown => {
    const [, kind, id = ''] = /^\/(logs|summary)\/(.+)$/.exec(path) ?? [];
    // A long log comes in several pieces.
    if (kind === 'logs') logs[id] = (logs[id] ?? '') + body;
    if (kind === 'summary') summaries[id] = body;
    if (kind !== undefined) return {};
    if (path.endsWith('/runnerresolve/actions')) return resolve(JSON.parse(body).actions, `${url}action.tar.gz`);
    if (/Get(Step|Job)LogsSignedBlobURL$/.test(path)) return blob('logs', JSON.parse(body).step_backend_id);
    if (path.endsWith('/GetStepSummarySignedBlobURL')) return blob('summary', JSON.parse(body).step_backend_id);
    if (path.endsWith('/completejob')) completion = JSON.parse(body);
    return { ok: true };
  };

  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    received.push(body);
    const { pathname } = new URL(request.url ?? '/', url);
    if (pathname === '/action.tar.gz') {
      response.end(action);
    } else {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(respond(pathname, body)));
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    reports: {
      logs,
      summaries,
      received,
      get completion() {
        return completion;
      },
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function resolve(actions: readonly { readonly action: string; readonly version: string }[], tar_url: string): unknown {
  const entries = actions.map(({ action: name, version }) => [
    `${name}@${version}`,
    { name, resolved_name: name, resolved_sha: commit, tar_url, zip_url: tar_url, version },
  ]);
  return { actions: Object.fromEntries(entries) };
}

const commit = '89abcdef0123456789abcdef0123456789abcdef';

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
