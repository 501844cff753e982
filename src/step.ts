import type { Ending } from './action/ending.js';
import { BadInputs } from './action/input-reader.js';
import { type Inputs, type Mode, readInputs } from './action/inputs.js';
import { publish, Untold } from './action/publish.js';
import type { Secrets } from './action/secrets.js';
import type { Toolkit } from './action/toolkit.js';
import { waitReport } from './action/wait-report.js';
import { ControlApi } from './api/control-api.js';
import type { Exchange } from './api/exchange.js';
import { type Collaborators, waitOperation } from './modes/wait-operation.js';
import type { Clock } from './time/clock.js';
import { Limit } from './time/limit.js';
import type { Stop } from './time/stop.js';

/** All that a step reaches of the world outside. */
export interface World {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether an end was told already, that of a crash: a later one must not make it look better. */
  readonly isTold: () => boolean;
  /** Tells that the runner cancels the step. */
  readonly cancel: Stop;
}

/** Answers whether what the step was asked for is true, and was told. */
export async function runStep(world: World): Promise<boolean> {
  try {
    const inputs = readInputs(world.toolkit.input, world.environment, world.secrets);
    const working = modes[inputs.mode](inputs, collaborators(inputs, world));
    for (const warning of inputs.warnings()) world.toolkit.warning(warning);
    const ending = await working;
    if (world.isTold()) return false;
    await tell(ending, world, inputs.mode, inputs.summary);
    return ending.succeeded;
  } catch (error) {
    await tellOfError(error, world);
    return false;
  }
}

const modes: Record<Mode, (inputs: Inputs, collaborators: Collaborators) => Promise<Ending>> = {
  'wait-operation': async ({ settings, timeout }, collaborators) =>
    waitReport(await waitOperation(settings, collaborators), settings, timeout, collaborators.limit.clock.date()),
};

function collaborators(
  { timeout, ...access }: Inputs,
  { toolkit, exchange, clock, random, cancel }: World,
): Collaborators {
  return {
    api: new ControlApi(exchange, access, toolkit),
    limit: new Limit(clock, timeout === 0 ? Number.POSITIVE_INFINITY : timeout, cancel),
    log: toolkit,
    random,
  };
}

/** The end of a step that has no result. */
export async function tellOfError(error: unknown, world: World): Promise<void> {
  const ending =
    error instanceof BadInputs ? badInputs(error) : error instanceof Untold ? untold(error) : defect(error);
  if (!(error instanceof BadInputs))
    world.toolkit.debug(world.secrets.redact(String(error instanceof Error ? error.stack : error)));
  await tell(ending, world, 'ctl-action', world.toolkit.input('summary').toLowerCase() !== 'false');
}

function badInputs({ message }: BadInputs): Ending {
  return { status: 'error', succeeded: false, headline: 'Bad input', error: message };
}

function untold({ message }: Untold): Ending {
  const error = `${message}. What was done stands, but the steps after this one would not know: look at the runner, and run the step again.`;
  return { status: 'error', succeeded: false, headline: 'The result could not be told', error };
}

function defect(error: unknown): Ending {
  const said = error instanceof Error ? error.message : String(error);
  return {
    status: 'error',
    succeeded: false,
    headline: 'No result',
    error: `The step has no result: ${said}. Nothing is known to be done. If this is not a fault of the runner, please report it as a defect of this action.`,
  };
}

function tell(
  ending: Ending,
  { toolkit, secrets, environment, clock }: World,
  mode: string,
  wantsSummary: boolean,
): Promise<void> {
  return publish(ending, clock.now(), { toolkit, secrets, environment, mode, wantsSummary });
}
