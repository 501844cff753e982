import { Secrets } from './action/secrets.js';
import { toolkit } from './action/toolkit.js';
import { httpExchange } from './http/http-exchange.js';
import type { NameLookup } from './http/name-lookup.js';
import { proxyPasswords } from './http/proxy.js';
import { systemClock } from './time/clock.js';
import { Stop } from './time/stop.js';
import type { World } from './world.js';

/** The work of a process. `run` and `reportError` return whether it succeeded. */
export interface Work {
  run(world: World): Promise<boolean>;
  /** Reports the error that ended the work. Does not throw. */
  tellOfError(error: unknown, world: World): Promise<boolean>;
  /** Called for each signal by which the runner cancels the step. */
  onSignal(cancel: Stop): void;
}

/** Runs a step as a process: sets up its real collaborators, and sets its exit code. */
export function runAsProcess(work: Work, names?: NameLookup): void {
  // The process fails until a result says otherwise. So a crash or an empty event loop never counts as success.
  process.exitCode = 1;

  const cancel = new Stop();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK']) process.on(signal, () => work.onSignal(cancel));

  // Node reads this variable at every TLS connection, octokit's included, and would accept any certificate.
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  const secrets = new Secrets(toolkit.mask);
  for (const password of proxyPasswords(process.env)) secrets.add(password);

  let told = false;
  const { exchange, close } = httpExchange(names);
  const world: World = {
    toolkit,
    secrets,
    environment: process.env,
    exchange,
    clock: systemClock,
    random: Math.random,
    isTold: () => told,
    cancel,
  };

  const emptyLoop = () => crash(new Error('its work came to a halt'));
  process.once('beforeExit', emptyLoop);
  process.on('uncaughtException', crash);
  work.run(world).then(end, crash);

  async function crash(error: unknown): Promise<void> {
    if (told) return;
    told = true;
    const tellIt = work.tellOfError(error, world);
    leave(
      await tellIt.catch((untold: unknown) => {
        toolkit.error(`The end of the step could not be told: ${untold}`);
        return false;
      }),
    );
  }

  function end(succeeded: boolean): void {
    if (told) return;
    told = true;
    leave(succeeded);
  }

  /** The process exits by itself. If a handle keeps it alive, `exit` ends it after 200 ms and after the last write. */
  function leave(succeeded: boolean): void {
    // Only this line makes the process succeed.
    if (succeeded) process.exitCode = 0;
    process.off('beforeExit', emptyLoop);
    close();
    setTimeout(() => process.stdout.write('', () => exit(succeeded)), 200).unref();
  }
}

function exit(succeeded: boolean): void {
  // process.exit() waits for a thread in getaddrinfo: 10 s and more if the name server does not answer.
  const isHeld = process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap');
  if (isHeld && !succeeded) process.kill(process.pid, 'SIGKILL');
  process.exit();
}
