import { Secrets } from './action/secrets.js';
import { type Environment, redacting, toolkit as runner, type Toolkit } from './action/toolkit.js';
import type { Exchange } from './http/exchange.js';
import { httpExchange } from './http/http-exchange.js';
import { proxyPasswords } from './http/proxy.js';
import { errorMessage } from './text/sentences.js';
import { type Clock, systemClock } from './time/clock.js';
import { Cancellation } from './time/deadline.js';

/** Everything a step uses from outside its process. */
export interface World {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Environment;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly random: () => number;
  /** True once the process has reported a crash. A later success must not replace that report. */
  readonly isReported: () => boolean;
  readonly cancellation: Cancellation;
}

/** The main step or the post step. `run` and `reportError` resolve to true if the step should be marked as successful. */
export interface Work {
  run(world: World): Promise<boolean>;
  reportError(error: unknown, world: World): Promise<boolean>;
  /**
   * Called for SIGINT, SIGTERM and SIGBREAK, which the runner sends to cancel the step. The post step ignores them: a job that
   * ends seconds later is better than a key that stays valid.
   */
  onSignal?(cancellation: Cancellation): void;
}

export function runAsProcess(work: Work): void {
  // The end of a process waits for a pending name lookup. So glibc gives a silent name server 2 s, not 10 s.
  process.env['RES_OPTIONS'] ??= 'timeout:1 attempts:2';
  // The process fails unless a result was confirmed, so a crash or an empty event loop is never treated as success.
  process.exitCode = 1;

  const cancellation = new Cancellation();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK']) process.on(signal, () => work.onSignal?.(cancellation));

  // With `NODE_TLS_REJECT_UNAUTHORIZED=0`, Node would accept any certificate, including for octokit's connections.
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  const secrets = new Secrets(runner.mask);
  const toolkit = redacting(runner, secrets);
  for (const password of proxyPasswords(process.env)) secrets.add(password);

  let reported = false;
  let forcedExit: NodeJS.Timeout | undefined;
  const world: World = {
    toolkit,
    secrets,
    environment: process.env,
    exchange: httpExchange(),
    clock: systemClock,
    random: Math.random,
    isReported: () => reported,
    cancellation,
  };

  const emptyLoop = () => crash(new Error('the process had nothing left to run, although the step was not done'));
  process.once('beforeExit', emptyLoop);
  process.on('uncaughtException', crash);
  work.run(world).then(end, crash);

  async function crash(error: unknown): Promise<void> {
    if (reported) return;
    reported = true;
    process.exitCode = 1;
    // A success before this error may have scheduled an exit, which must not interrupt the report.
    clearTimeout(forcedExit);
    const reporting = work.reportError(error, world).catch((reportFailure: unknown) => {
      const what = `${errorMessage(error)}. The step could not report this: ${errorMessage(reportFailure)}`;
      const advice = "Check the runner's disk, then re-run the job. Post revokes a key of this step.";
      toolkit.error(`${what}. ${advice}`);
      return false;
    });
    exit(await reporting);
  }

  function end(succeeded: boolean): void {
    if (reported) return;
    // An error after a success is still reported.
    reported = !succeeded;
    exit(succeeded);
  }

  /** The process normally exits by itself. If an open handle prevents that, `forceExit` runs after 200 ms. */
  function exit(succeeded: boolean): void {
    // No other code sets exit code 0.
    if (succeeded) process.exitCode = 0;
    process.off('beforeExit', emptyLoop);
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
