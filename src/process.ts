import { Secrets } from './action/secrets.js';
import { type Environment, toolkit as runner, shielded } from './action/toolkit.js';
import { httpExchange } from './http/http-exchange.js';
import { proxyPasswords } from './http/proxy.js';
import { errorMessage, sentences } from './text/sentences.js';
import { systemClock } from './time/clock.js';
import { Cancellation } from './time/deadline.js';

export type World = Readonly<ReturnType<typeof openWorld>>;

function openWorld(isReported: () => boolean) {
  const secrets = new Secrets(runner.mask);
  secrets.add(...proxyPasswords(process.env));
  const cancellation = new Cancellation();
  // The runner sends them to cancel the step.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK']) process.on(signal, () => cancellation.cancel());
  return {
    toolkit: shielded(runner, secrets),
    secrets,
    environment: process.env as Environment,
    exchange: httpExchange(),
    clock: systemClock,
    random: Math.random,
    /** True once the process has reported a crash. A later success must not replace that report. */
    isReported,
    cancellation,
  };
}

/** The main step or the post step. `run` and `reportError` resolve to true if the step should be marked as successful. */
export interface Work {
  run(world: World): Promise<boolean>;
  reportError(error: unknown, world: World): Promise<boolean>;
}

export function runAsProcess(work: Work): void {
  // The process fails unless a result was confirmed, so a crash or an empty event loop is never treated as success.
  process.exitCode = 1;
  // The end of a process waits for a pending name lookup. So glibc gives a silent name server 2 s, not 10 s.
  process.env['RES_OPTIONS'] ??= 'timeout:1 attempts:2';
  // With `NODE_TLS_REJECT_UNAUTHORIZED=0`, Node would accept any certificate, including for octokit's connections.
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];

  let isReported = false;
  let forcedExit: NodeJS.Timeout | undefined;
  const world = openWorld(() => isReported);
  process.once('beforeExit', () =>
    crash(new Error('the process had nothing left to run, although the step was not done')),
  );
  process.on('uncaughtException', crash);
  work.run(world).then(end, crash);

  async function crash(error: unknown): Promise<void> {
    if (isReported) return;
    isReported = true;
    process.exitCode = 1;
    // A success before this error may have scheduled an exit, which must not interrupt the report.
    clearTimeout(forcedExit);
    world.toolkit.debug(String(error instanceof Error ? error.stack : error));
    const reporting = work.reportError(error, world).catch((failure: unknown) => {
      const what = `The step could not report this: ${errorMessage(failure)}`;
      const advice = "Check the runner's disk, then re-run the job. Post revokes a key of this step.";
      world.toolkit.error(sentences(errorMessage(error), what, advice));
      return false;
    });
    exit(await reporting);
  }

  function end(succeeded: boolean): void {
    if (isReported) return;
    // An error after a success is still reported.
    isReported = !succeeded;
    exit(succeeded);
  }

  /** The process normally exits by itself. If an open handle prevents that, `forceExit` runs after 200 ms. */
  function exit(succeeded: boolean): void {
    // No other code sets exit code 0.
    if (succeeded) process.exitCode = 0;
    process.removeAllListeners('beforeExit');
    // The callback of an empty write runs once all log lines have been written.
    forcedExit = setTimeout(() => process.stdout.write('', forceExit), 200).unref();
  }
}

function forceExit(): void {
  // process.exit() waits for a thread that is in getaddrinfo, for 10 s or more if the name server does not respond.
  const isHeld = process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap');
  if (isHeld && process.exitCode !== 0) process.kill(process.pid, 'SIGKILL');
  process.exit();
}
