import { apiKeys } from './action/inputs/inputs.js';
import { publishLogAndSummary } from './action/publish.js';
import type { StepReport } from './action/step-report.js';
import { ControlApi } from './api/control-api.js';
import { Rate } from './http/rate.js';
import { isSealedWith, type PostState, parsePostState } from './keys/post-state.js';
import { postStateName } from './keys/post-state-name.js';
import { endMintedKey, longestRetryAfter } from './post/minted-key.js';
import { crashAfterReport, crashReport, postReport } from './post/report.js';
import { endStrayKeys } from './post/stray-keys.js';
import type { Work, World } from './process.js';
import { Deadline } from './time/deadline.js';

/** The post step ends within 20 s. The report takes the rest of them. */
const timeForKeys = 19_500;
const timeForStrays = 18_000;

/** Revokes the keys of the main step. Trusts only the saved state, because the inputs may be those of another step. */
export class PostStep implements Work {
  #state: PostState | undefined;
  /** Set when the fate of all keys is known. */
  #report: StepReport | undefined;

  async run(world: World): Promise<boolean> {
    const { toolkit, secrets, environment, clock, random, cancellation, exchange } = world;
    const saved = environment[`STATE_${postStateName}`] ?? '';
    const state = parsePostState(saved);
    const { minted, lostCreates } = state;
    this.#state = state;
    if (minted?.secret) secrets.addForLaterSteps(minted.secret);
    // The seal proves which key the main step used. Another one may belong to another step, so it is not even masked.
    const parentKey = apiKeys(toolkit.input, environment).find((key) => isSealedWith(key, saved, environment));
    if (parentKey !== undefined) secrets.add(parentKey);
    const rate = new Rate(clock, random, longestRetryAfter);
    const connection = { exchange, log: toolkit, baseUrl: new URL(state.baseUrl), rate };
    const parent = parentKey === undefined ? undefined : new ControlApi({ ...connection, apiKey: parentKey });
    const until = (time: number) => new Deadline(clock, time, cancellation);
    const endMinted = async () => {
      if (!minted?.secret) return undefined;
      const own = new ControlApi({ ...connection, apiKey: minted.secret });
      return endMintedKey(minted, { own, parent }, until(timeForKeys), random);
    };
    const endStrays = async () => {
      if (lostCreates === 0 || parent === undefined) return [];
      return endStrayKeys(state, { api: parent, rate, deadline: until(timeForStrays), random });
    };
    const [doubt, strays] = await Promise.all([endMinted(), endStrays()]);
    this.#report = postReport(state, { doubt, strays, hasParentKey: parent !== undefined });
    return this.#publish(this.#report, world);
  }

  async reportError(error: unknown, world: World): Promise<boolean> {
    world.toolkit.debug(String(error instanceof Error ? error.stack : error));
    const report =
      this.#report?.status === 'ok'
        ? crashAfterReport(error, this.#report)
        : crashReport(error, this.#state, world.environment['GITHUB_RUN_ID']);
    return this.#publish(report, world);
  }

  async #publish(report: StepReport, world: World): Promise<boolean> {
    await publishLogAndSummary(report, { ...world, mode: 'create-key', wantsSummary: this.#state?.summary ?? true });
    return report.succeeded;
  }
}
