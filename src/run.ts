import { Secrets } from './action/secrets.js';
import { toolkit } from './action/toolkit.js';
import { httpExchange } from './http/http-exchange.js';
import type { NameLookup } from './http/name-lookup.js';
import { proxyPasswords } from './http/proxy.js';
import { systemClock } from './time/clock.js';
import { Stop } from './time/stop.js';
import type { World } from './world.js';

/** What a process does. Both answer whether it succeeded. */
export interface Work {
  run(world: World): Promise<boolean>;
  /** Tells of the error that ended it, and does not throw. */
  tellOfError(error: unknown, world: World): Promise<boolean>;
  /** The runner cancels. */
  onSignal(cancel: Stop): void;
}

/** A process of the action, from the real world to its exit code. */
export function runAsProcess(work: Work, names?: NameLookup): void {
  // Red, until a result says otherwise: a crash, or an event loop that runs empty, never ends green.
  process.exitCode = 1;

  const cancel = new Stop();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK']) process.on(signal, () => work.onSignal(cancel));

  // Node reads it at every TLS connection, octokit's too, and would accept any certificate.
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

  /** The process ends by itself; a handle that is left over is cut off, after the last write. */
  function leave(succeeded: boolean): void {
    // The one place that makes a process green.
    if (succeeded) process.exitCode = 0;
    process.off('beforeExit', emptyLoop);
    close();
    setTimeout(() => process.stdout.write('', () => exit(succeeded)), 200).unref();
  }
}

function exit(succeeded: boolean): void {
  // process.exit() waits for a thread in getaddrinfo, 10 s and more where the resolver is silent.
  const isHeld = process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap');
  if (isHeld && !succeeded) process.kill(process.pid, 'SIGKILL');
  process.exit();
}
