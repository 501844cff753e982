import { apiKeys, baseUrlProblem } from './action/inputs/inputs.js';
import { publishLogAndSummary } from './action/publish.js';
import type { StepReport } from './action/step-report.js';
import { ControlApi } from './api/control-api.js';
import { Rate } from './http/rate.js';
import { isSealed, type PostState, parsePostState, sealContext } from './keys/post-state.js';
import { postStateName } from './keys/post-state-name.js';
import { cleanUp } from './post/clean-up.js';
import { cleanUpReport, crashReport, doubts } from './post/report.js';
import { totalTimeout } from './post/schedule.js';
import type { Work, World } from './process.js';
import { Deadline } from './time/deadline.js';

/** Revokes the keys of the main step. Trusts only the saved state, because the inputs may be those of another step. */
export class PostStep implements Work {
  #state: PostState | undefined;
  #areAllRevoked = false;

  async run(world: World): Promise<boolean> {
    const { toolkit, secrets, environment, clock, random, cancellation } = world;
    const saved = environment[`STATE_${postStateName}`] ?? '';
    const state = parsePostState(saved, (url) => baseUrlProblem(url) === undefined);
    this.#state = state;
    if (state.minted !== undefined) secrets.addForLaterSteps(state.minted.secret);
    const context = sealContext(environment);
    // The seal proves which API key the main step used. Another key may belong to another step, so it is not even masked.
    const parent = apiKeys(toolkit.input, environment).find((candidate) => isSealed(saved, candidate, context));
    if (parent !== undefined) secrets.add(parent);
    const otherKeys = [state.minted?.secret ?? [], parent ?? []].flat();
    const baseUrl = new URL(state.baseUrl);
    // By contract, a `Retry-After` counts as at most 2 s here.
    const rate = new Rate(clock, random, 2_000);
    const connection = { exchange: world.exchange, log: toolkit, baseUrl, rate, otherKeys };
    const api = (apiKey: string) => new ControlApi({ ...connection, apiKey });
    const minted = state.minted && { id: state.minted.id, api: api(state.minted.secret) };
    const clients = { minted, parent: parent === undefined ? undefined : api(parent) };
    const deadline = new Deadline(clock, totalTimeout, cancellation);
    const result = await cleanUp(state, clients, { deadline, log: toolkit, random });
    this.#areAllRevoked = result.failure === undefined;
    const given = toolkit.input('base-url') || environment['CTL_BASE_URL']?.trim() || '';
    const isGiven = URL.canParse(given) && new URL(given).href === baseUrl.href;
    const report = cleanUpReport(result, state);
    const warnings = [...(report.warnings ?? []), ...doubts(result, state, parent !== undefined || isGiven)];
    return this.#publish({ ...report, warnings }, world);
  }

  async reportError(error: unknown, world: World): Promise<boolean> {
    world.toolkit.debug(world.secrets.redact(String(error instanceof Error ? error.stack : error)));
    return this.#publish(crashReport(error, this.#state, this.#areAllRevoked), world);
  }

  async #publish(report: StepReport, world: World): Promise<boolean> {
    await publishLogAndSummary(report, { ...world, mode: 'create-key', wantsSummary: this.#state?.summary ?? true });
    return report.succeeded;
  }
}
