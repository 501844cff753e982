import type { Ending } from './action/ending.js';
import { apiKeys } from './action/inputs/inputs.js';
import { say } from './action/publish.js';
import { cleanedUpReport, crashReport } from './action/reports/cleaned-up-report.js';
import { ControlApi } from './api/control-api.js';
import { cleanUp } from './modes/clean-up.js';
import { isKeyOf, parseTrace, type Trace } from './modes/keys/trace.js';
import { traceName } from './modes/keys/trace-name.js';
import { Limit } from './time/limit.js';
import type { World } from './world.js';

const all = 20_000;
const anExchange = 5_000;

/** The post step: revokes what main has left, by what main has saved. Its inputs can be those of another step. */
export class CleanUpStep {
  #trace: Trace | undefined;
  #isAllGone = false;

  async run(world: World): Promise<boolean> {
    const { toolkit, secrets, environment, clock, random, cancel } = world;
    const trace = parseTrace(environment[`STATE_${traceName}`] ?? '');
    this.#trace = trace;
    if (trace.minted !== undefined) secrets.addForOthers(trace.minted.secret);
    const parent = this.#parentKey(trace, world);
    const api = (apiKey: string) =>
      new ControlApi(world.exchange, { baseUrl: new URL(trace.baseUrl), apiKey, requestTimeout: anExchange }, toolkit);
    const cleanedUp = await cleanUp(
      trace,
      {
        minted: trace.minted === undefined ? undefined : { id: trace.minted.id, api: api(trace.minted.secret) },
        parent: parent === undefined ? undefined : api(parent),
      },
      { limit: new Limit(clock, all, cancel), log: toolkit, random },
    );
    this.#isAllGone = cleanedUp.failure === undefined;
    return this.#tell(cleanedUpReport(cleanedUp, trace, clock.date()), world);
  }

  async tellOfError(error: unknown, world: World): Promise<boolean> {
    world.toolkit.debug(world.secrets.redact(String(error instanceof Error ? error.stack : error)));
    return this.#tell(crashReport(error, this.#trace, this.#isAllGone), world);
  }

  /** Any key that is not the one that main had may be the secret of another step: it is not even masked. */
  #parentKey(trace: Trace, { toolkit, secrets, environment }: World): string | undefined {
    const key = apiKeys(toolkit.input, environment).find((candidate) => isKeyOf(trace.parent, candidate));
    if (key !== undefined) secrets.add(key);
    return key;
  }

  async #tell(ending: Ending, { toolkit, secrets, environment }: World): Promise<boolean> {
    const wantsSummary = this.#trace?.summary ?? true;
    await say(ending, { toolkit, secrets, environment, mode: 'create-key', wantsSummary });
    return ending.succeeded;
  }
}
