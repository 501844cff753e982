import { help, messageOf, parseCliOptions } from './cli-options.js';
import { answerControl, controlPath } from './control.js';
import { GitHubApi } from './github/api.js';
import { Repository } from './github/repository.js';
import {
  type PlaneAnswer,
  type PlaneRequest,
  type RunningControlPlane,
  type ServedControlPlaneOptions,
  startControlPlane,
  systemClock,
} from './index.js';
import { requestLine } from './request-line.js';

const gitHubPath = '/github';
const otherApiKey = 'key-of-another-account';

async function serve(options: ServedControlPlaneOptions): Promise<void> {
  const runs = new Repository(undefined, '1');
  const github = new GitHubApi({ token: undefined, repository: runs, basePath: gitHubPath, clock: systemClock });
  const beside = (request: PlaneRequest): PlaneAnswer | undefined => {
    const { method, target: path } = request;
    const answer = path.startsWith(`${controlPath}/`)
      ? answerControl({ ...service, runs }, request)
      : path.startsWith(`${gitHubPath}/`) && github.handle(request);
    if (!answer) return undefined;
    process.stderr.write(requestLine({ at: Date.now(), method, path, ...answer }));
    return answer;
  };
  const service: RunningControlPlane = await startControlPlane({
    ...options,
    otherApiKey,
    beside,
    onExchange: (exchange, answer) => process.stderr.write(requestLine({ ...exchange, body: answer?.body })),
  }).catch((error: unknown) => {
    throw new Error(`Cannot listen: ${messageOf(error)}. Choose another --host or --port.`);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void service.close());
  const { baseUrl, apiKey, projectIds } = service;
  const { origin } = new URL(baseUrl);
  const started = {
    base_url: baseUrl,
    api_key: apiKey,
    project_ids: projectIds,
    control_url: origin + controlPath,
    github_api_url: origin + gitHubPath,
    other_api_key: otherApiKey,
  };
  process.stdout.write(`${JSON.stringify(started)}\n`);
}

/** One error, and how the process ends. */
function fail(error: unknown, exitCode: number): void {
  const [message] = messageOf(error).split('\n');
  process.stderr.write(`control-plane: ${message}\n`);
  process.exitCode = exitCode;
}

// The service goes on after the reader of the first line has closed the pipe.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  const options = parseCliOptions(process.argv.slice(2));
  if (options) serve(options).catch((error: unknown) => fail(error, 1));
  else process.stdout.write(help);
} catch (error) {
  fail(error, 2);
}
