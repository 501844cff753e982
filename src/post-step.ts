import { apiKeys } from './action/inputs/input-reader.js';
import { publishLogAndSummary, type StepReport } from './action/step-report.js';
import { ControlApi } from './api/control-api.js';
import { Rate } from './http/rate.js';
import { isSealedWith, type PostState, parsePostState } from './keys/post-state.js';
import { postStateName } from './keys/post-state-name.js';
import { endMintedKey, endStrayKeys, longestRetryAfter } from './post/keys.js';
import { crashReport, postReport } from './post/report.js';
import type { Work, World } from './process.js';
import { Cancellation, Deadline } from './time/deadline.js';

/** The post step ends within 20 s. The report takes the rest of them. */
const timeForKeys = 19_500;
const timeForStrays = 18_000;

/** Revokes the keys of the main step. Trusts only the saved state, because the inputs may be those of another step. */
export class PostStep implements Work {
  #state: PostState | undefined;

  async run(world: World): Promise<boolean> {
    const { toolkit, secrets, environment, clock, random, exchange } = world;
    const saved = environment[`STATE_${postStateName}`] ?? '';
    const state = parsePostState(saved);
    const { minted, lostCreates } = state;
    this.#state = state;
    secrets.add(minted?.secret ?? '');
    // The seal proves which key the main step used. Another one may belong to another step, so it is not even masked.
    const parentKey = apiKeys(toolkit.input, environment).find((key) => isSealedWith(key, saved, environment));
    if (parentKey !== undefined) secrets.add(parentKey);
    const rate = new Rate(clock, random, longestRetryAfter);
    const connection = { exchange, log: toolkit, baseUrl: new URL(state.baseUrl), rate };
    const clientOf = (apiKey: string) => new ControlApi({ ...connection, apiKey });
    const parent = parentKey === undefined ? undefined : clientOf(parentKey);
    // Signals do not stop post: a job that ends seconds later is better than a key that stays valid.
    const until = (time: number) => new Deadline(clock, time, new Cancellation());
    const [doubt, strays] = await Promise.all([
      minted?.secret
        ? endMintedKey(minted, { own: clientOf(minted.secret), parent }, until(timeForKeys), random)
        : undefined,
      lostCreates === 0 || parent === undefined
        ? []
        : endStrayKeys(state, { api: parent, rate, deadline: until(timeForStrays), random }),
    ]);
    return this.#publish(postReport(state, doubt, strays, parent !== undefined), world);
  }

  async reportError(error: unknown, world: World): Promise<boolean> {
    return this.#publish(crashReport(error, this.#state, world.environment['GITHUB_RUN_ID']), world);
  }

  async #publish(report: StepReport, world: World): Promise<boolean> {
    await publishLogAndSummary(report, { ...world, mode: 'create-key', wantsSummary: this.#state?.summary ?? true });
    return report.succeeded;
  }
}
