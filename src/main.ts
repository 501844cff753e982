import { Secrets } from './action/secrets.js';
import { toolkit } from './action/toolkit.js';
import { httpExchange } from './api/http-exchange.js';
import { runStep, tellOfError, type World } from './step.js';
import { systemClock } from './time/clock.js';
import { Stop } from './time/stop.js';

// Red, until a result says otherwise: a crash, or an event loop that runs empty, never ends green.
process.exitCode = 1;

const cancel = new Stop();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK']) process.on(signal, () => cancel.stop());

let told = false;
const { exchange, close } = httpExchange();
const world: World = {
  toolkit,
  secrets: new Secrets(toolkit.mask),
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
runStep(world).then(end, crash);

async function crash(error: unknown): Promise<void> {
  if (told) return;
  told = true;
  await tellOfError(error, world).catch((untold: unknown) =>
    toolkit.error(`The end of the step could not be told: ${untold}`),
  );
  leave();
}

function end(succeeded: boolean): void {
  if (told) return;
  told = true;
  // The one place that makes the step green.
  if (succeeded) process.exitCode = 0;
  leave();
}

/** The process ends by itself; a handle that is left over is cut off, after the last write. */
function leave(): void {
  process.off('beforeExit', emptyLoop);
  close();
  setTimeout(() => process.stdout.write('', () => process.exit()), 200).unref();
}
