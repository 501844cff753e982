import type { Ending } from './action/ending.js';
import { BadInputs } from './action/inputs/input-reader.js';
import { type Inputs, type Mode, maskParentKey, readInputs, type SettingsOf } from './action/inputs/inputs.js';
import { publish } from './action/publish.js';
import { createdReport } from './action/reports/created-report.js';
import { failureReport, noResultReport } from './action/reports/failure-report.js';
import { listedKeysReport, listedOperationsReport, listedProjectsReport } from './action/reports/listed-report.js';
import { revokedReport } from './action/reports/revoked-report.js';
import { sweptReport } from './action/reports/swept-report.js';
import { waitReport } from './action/reports/wait-report.js';
import { runAndAttempt } from './action/run-and-attempt.js';
import { ControlApi } from './api/control-api.js';
import type { Collaborators } from './modes/collaborators.js';
import { createKey, handedOn, type PostStateStore } from './modes/create-key.js';
import { serializePostState } from './modes/keys/post-state.js';
import { nothingToRevoke, postStateName } from './modes/keys/post-state-name.js';
import type { WorkflowRuns } from './modes/keys/run-lookups.js';
import { listKeys } from './modes/list-keys.js';
import { listOperations } from './modes/list-operations.js';
import { listProjects } from './modes/list-projects.js';
import { revokeKeys } from './modes/revoke-key.js';
import { sweepKeys } from './modes/sweep-keys.js';
import { waitOperation } from './modes/wait-operation.js';
import { Limit } from './time/limit.js';
import type { World } from './world.js';

/** Loads the client that reads workflow runs of a repository with a token. `date`: milliseconds since 1970. */
export type LoadWorkflowRuns = () => Promise<(token: string, repository: string, date: () => number) => WorkflowRuns>;

/** Returns true only if the result was confirmed and published. */
export async function runStep(world: World, loadWorkflowRuns: LoadWorkflowRuns): Promise<boolean> {
  const { toolkit, environment, secrets } = world;
  maskParentKey(toolkit.input, environment, secrets);
  // This comes before anything that can fail. If a step saves no state, post reads one that another step forged.
  toolkit.state(postStateName, nothingToRevoke);
  const inputs = readInputs(toolkit.input, environment, secrets);
  const means = { inputs, world, collaborators: collaboratorsOf(inputs, world), loadWorkflowRuns };
  const working = work(inputs.mode, inputs.settings, means);
  for (const warning of inputs.warnings()) toolkit.warning(warning);
  const ending = await working.catch((error: unknown) =>
    failureReport(error, inputs.timeout, inputs.mode === 'list-operations'),
  );
  if (world.isTold()) return false;
  await tell(ending, world, inputs.mode, inputs.summary);
  return ending.succeeded;
}

interface Means {
  readonly inputs: Inputs;
  readonly world: World;
  readonly collaborators: Collaborators;
  readonly loadWorkflowRuns: LoadWorkflowRuns;
}

const modes: { readonly [M in Mode]: (settings: SettingsOf[M], means: Means) => Promise<Ending> } = {
  'wait-operation': async (settings, { inputs, collaborators }) => {
    const { api, limit } = collaborators;
    const waited = await waitOperation(settings, collaborators);
    return waitReport(waited, settings, inputs.timeout, api.epochMs(limit.clock));
  },
  'create-key': async (settings, { inputs, world, collaborators }) => {
    const store = postStateStore(settings, inputs, world);
    const created = await createKey(settings, collaborators, store);
    return {
      ...createdReport(created, settings, inputs.timeout),
      whenHandedOn: () => handedOn(created, settings, store),
    };
  },
  'list-operations': async (settings, { collaborators }) =>
    listedOperationsReport(
      await listOperations(settings, collaborators),
      collaborators.api.epochMs(collaborators.limit.clock),
    ),
  'list-projects': async (settings, { collaborators }) =>
    listedProjectsReport(await listProjects(settings, collaborators), settings.maxBatches),
  'list-keys': async (settings, { collaborators }) => listedKeysReport(await listKeys(settings, collaborators)),
  'revoke-key': async (settings, { inputs, collaborators }) =>
    revokedReport(await revokeKeys(settings, collaborators), settings, inputs.timeout),
  'sweep-keys': async (settings, { inputs, world, collaborators, loadWorkflowRuns }) => {
    world.secrets.add(settings.githubToken);
    const workflowRuns = await loadWorkflowRuns();
    const runs = workflowRuns(settings.githubToken, settings.repository, world.clock.date);
    const { requestTimeout, timeout } = inputs;
    return sweptReport(await sweepKeys({ ...settings, requestTimeout }, collaborators, runs), settings, timeout);
  },
};

function work<M extends Mode>(mode: M, settings: SettingsOf[M], means: Means): Promise<Ending> {
  return modes[mode](settings, means);
}

function collaboratorsOf(
  { timeout, ...access }: Inputs,
  { toolkit, exchange, clock, random, cancel }: World,
): Collaborators {
  return {
    api: new ControlApi(exchange, { ...access, requestTimeoutInput: 'request-timeout' }, toolkit),
    limit: new Limit(clock, timeout === 0 ? Number.POSITIVE_INFINITY : timeout, cancel),
    log: toolkit,
    random,
  };
}

/** `create-key` saves the state for post here. */
function postStateStore(
  { onRevokeFailure }: SettingsOf['create-key'],
  { apiKey, baseUrl, summary }: Inputs,
  { toolkit, secrets, environment, clock }: World,
): PostStateStore {
  const known = { baseUrl: baseUrl.href, since: clock.date(), onFailure: onRevokeFailure, summary };
  const run = runAndAttempt(environment);
  return {
    mask: (secret) => secrets.addForOthers(secret),
    save: (state) =>
      toolkit.state(
        postStateName,
        state === undefined ? nothingToRevoke : serializePostState({ ...known, ...state }, apiKey, run),
      ),
  };
}

/** Reports a step that has no result. */
export async function tellOfError(error: unknown, world: World): Promise<false> {
  if (!(error instanceof BadInputs))
    world.toolkit.debug(world.secrets.redact(String(error instanceof Error ? error.stack : error)));
  const wantsSummary = world.toolkit.input('summary').toLowerCase() !== 'false';
  await tell(noResultReport(error), world, 'ctl-action', wantsSummary);
  return false;
}

function tell(
  ending: Ending,
  { toolkit, secrets, environment, clock }: World,
  mode: string,
  wantsSummary: boolean,
): Promise<void> {
  return publish(ending, clock.now(), { toolkit, secrets, environment, mode, wantsSummary });
}
