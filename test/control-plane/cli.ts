import { type CliOptions, help, parseCliOptions } from './cli-options.js';
import { type Exchange, type RunningControlPlane, startControlPlane } from './index.js';

const wrongUse = 2;

function readOptions(): CliOptions | 'help' | { readonly wrong: string } {
  try {
    return parseCliOptions(process.argv.slice(2)) ?? 'help';
  } catch (error) {
    return { wrong: messageOf(error) };
  }
}

async function serve(options: CliOptions): Promise<void> {
  const { apiKey, ...rest } = options;
  const service = await startControlPlane({
    ...rest,
    ...(apiKey === undefined ? {} : { apiKey }),
    onExchange: logLine,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void service.close());
  const operationIds = startOperations(service, options);
  const started = {
    base_url: service.baseUrl,
    api_key: service.apiKey,
    project_ids: service.projectIds,
    ...(operationIds.length > 0 ? { operation_ids: operationIds } : {}),
  };
  process.stdout.write(`${JSON.stringify(started)}\n`);
}

function startOperations(service: RunningControlPlane, { operationSeconds, fail }: CliOptions): string[] {
  return operationSeconds.map((seconds, index) => {
    const outcome = index < fail ? 'failed' : 'finished';
    return service.plane.startOperation({ lengthMs: seconds * 1000, outcome }).id;
  });
}

function logLine({ at, method, path, status, endedAt = at, fault }: Exchange): void {
  const columns = [new Date(at).toISOString(), method, path, status ?? '-', `${endedAt - at}ms`, fault ?? ''];
  process.stderr.write(`${columns.join(' ').trimEnd()}\n`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Whoever read the first line and closed the pipe still wants the service.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const options = readOptions();
if (options === 'help') {
  process.stdout.write(help);
} else if ('wrong' in options) {
  process.stderr.write(`control-plane: ${options.wrong}\nTry --help.\n`);
  process.exitCode = wrongUse;
} else {
  serve(options).catch((error: unknown) => {
    process.stderr.write(`control-plane: ${messageOf(error)}\n`);
    process.exitCode = 1;
  });
}
