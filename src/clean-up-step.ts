import type { Ending } from './action/ending.js';
import { isBaseUrl } from './action/inputs/input-values.js';
import { apiKeys } from './action/inputs/inputs.js';
import { say } from './action/publish.js';
import { cleanedUpReport, crashReport } from './action/reports/cleaned-up-report.js';
import { runAndAttempt } from './action/run-and-attempt.js';
import { ControlApi } from './api/control-api.js';
import { cleanUp } from './modes/clean-up.js';
import { isSealed, type PostState, parsePostState } from './modes/keys/post-state.js';
import { postStateName } from './modes/keys/post-state-name.js';
import { Limit } from './time/limit.js';
import type { World } from './world.js';

/** Milliseconds for the whole post step. After a cancel the rest of the job shares under 5 minutes. */
const all = 20_000;
/** Milliseconds for one exchange, so that post can retry within its 20 s. */
const anExchange = 5_000;

/**
 * The post step. It revokes the keys that main created, and works from the state that main saved. The runner may give it
 * the inputs of another step, and another step can forge the state.
 */
export class CleanUpStep {
  #state: PostState | undefined;
  #isAllGone = false;

  async run(world: World): Promise<boolean> {
    const { toolkit, secrets, environment, clock, random, cancel } = world;
    const saved = environment[`STATE_${postStateName}`] ?? '';
    const state = parsePostState(saved, isBaseUrl);
    this.#state = state;
    if (state.minted !== undefined) secrets.addForOthers(state.minted.secret);
    const parent = parentKey(saved, world);
    const api = (apiKey: string) =>
      new ControlApi(world.exchange, { baseUrl: new URL(state.baseUrl), apiKey, requestTimeout: anExchange }, toolkit);
    const cleanedUp = await cleanUp(
      state,
      {
        minted: state.minted === undefined ? undefined : { id: state.minted.id, api: api(state.minted.secret) },
        parent: parent === undefined ? undefined : api(parent),
      },
      { limit: new Limit(clock, all, cancel), log: toolkit, random },
    );
    this.#isAllGone = cleanedUp.failure === undefined;
    return this.#tell(cleanedUpReport(cleanedUp, state, clock.date()), world);
  }

  async tellOfError(error: unknown, world: World): Promise<boolean> {
    world.toolkit.debug(world.secrets.redact(String(error instanceof Error ? error.stack : error)));
    return this.#tell(crashReport(error, this.#state, this.#isAllGone), world);
  }

  async #tell(ending: Ending, { toolkit, secrets, environment }: World): Promise<boolean> {
    const wantsSummary = this.#state?.summary ?? true;
    await say(ending, { toolkit, secrets, environment, mode: 'create-key', wantsSummary });
    return ending.succeeded;
  }
}

/**
 * The key that sealed the state, if post has it. A valid seal proves that main wrote the state. Any other key may be a
 * secret of another step, so it is not used at all, not even for a mask.
 */
function parentKey(saved: string, { toolkit, secrets, environment }: World): string | undefined {
  const run = runAndAttempt(environment);
  const key = apiKeys(toolkit.input, environment).find((candidate) => isSealed(saved, candidate, run));
  if (key !== undefined) secrets.add(key);
  return key;
}
