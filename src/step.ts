import { errorReport, failureReport } from './action/failure-report.js';
import { BadInputs } from './action/inputs/input-reader.js';
import { type Inputs, maskParentKey, readInputs } from './action/inputs/inputs.js';
import { runAndAttempt } from './action/inputs/workflow-run.js';
import { publish } from './action/publish.js';
import type { StepReport } from './action/step-report.js';
import { ControlApi } from './api/control-api.js';
import { serializePostState } from './keys/post-state.js';
import { nothingToRevoke, postStateName } from './keys/post-state-name.js';
import { afterOutputsWritten, createKey, type PostStateStore } from './modes/create-key/create-key.js';
import { createKeyReport } from './modes/create-key/report.js';
import type { ModeName, ModeSettings } from './modes/index.js';
import { listKeys } from './modes/list/keys.js';
import { listOperations } from './modes/list/operations.js';
import { listProjects } from './modes/list/projects.js';
import { listKeysReport, listOperationsReport, listProjectsReport } from './modes/list/report.js';
import type { Collaborators } from './modes/mode.js';
import { revokeKeyReport } from './modes/revoke-key/report.js';
import { revokeKeys } from './modes/revoke-key/revoke-key.js';
import { sweepKeysReport } from './modes/sweep-keys/report.js';
import type { WorkflowRuns } from './modes/sweep-keys/run-lookups.js';
import { sweepKeys } from './modes/sweep-keys/sweep-keys.js';
import { waitReport } from './modes/wait-operation/report.js';
import { waitOperation } from './modes/wait-operation/waiter.js';
import type { World } from './process.js';
import { Deadline } from './time/deadline.js';

/** Loads the client that reads workflow runs of a repository with a token. `epochMs`: milliseconds since 1970. */
export type LoadWorkflowRuns = () => Promise<
  (token: string, repository: string, epochMs: () => number) => WorkflowRuns
>;

/** Returns true only if the result was confirmed and published. */
export async function runStep(world: World, loadWorkflowRuns: LoadWorkflowRuns): Promise<boolean> {
  const { toolkit, environment, secrets } = world;
  maskParentKey(toolkit.input, environment, secrets);
  // This comes before anything that can fail. If a step saves no state, post reads one that another step forged.
  toolkit.state(postStateName, nothingToRevoke);
  const inputs = readInputs(toolkit.input, environment, secrets);
  const means = { inputs, world, collaborators: createCollaborators(inputs, world), loadWorkflowRuns };
  const working = runMode(inputs.mode, inputs.settings, means);
  for (const warning of inputs.warnings()) toolkit.warning(warning);
  const report = await working.catch((error: unknown) =>
    failureReport(error, inputs.timeout, inputs.mode === 'list-operations'),
  );
  if (world.isReported()) return false;
  await publishReport(report, world, inputs.mode, inputs.summary);
  return report.succeeded;
}

interface StepContext {
  readonly inputs: Inputs;
  readonly world: World;
  readonly collaborators: Collaborators;
  readonly loadWorkflowRuns: LoadWorkflowRuns;
}

const modeRunners: {
  readonly [M in ModeName]: (settings: ModeSettings[M], context: StepContext) => Promise<StepReport>;
} = {
  'wait-operation': async (settings, { inputs, collaborators }) => {
    const { api, deadline } = collaborators;
    const result = await waitOperation(settings, collaborators);
    return waitReport(result, settings, inputs.timeout, api.serviceEpochMs(deadline.clock));
  },
  'create-key': async (settings, { inputs, world, collaborators }) => {
    const store = createPostStateStore(settings, inputs, world);
    const result = await createKey(settings, collaborators, store);
    return {
      ...createKeyReport(result, settings, inputs.timeout),
      afterOutputsWritten: () => afterOutputsWritten(result, settings, store),
    };
  },
  'list-operations': async (settings, { collaborators }) =>
    listOperationsReport(
      await listOperations(settings, collaborators),
      collaborators.api.serviceEpochMs(collaborators.deadline.clock),
    ),
  'list-projects': async (settings, { collaborators }) =>
    listProjectsReport(await listProjects(settings, collaborators), settings.maxBatches),
  'list-keys': async (settings, { collaborators }) => listKeysReport(await listKeys(settings, collaborators)),
  'revoke-key': async (settings, { inputs, collaborators }) =>
    revokeKeyReport(await revokeKeys(settings, collaborators), settings, inputs.timeout),
  'sweep-keys': async (settings, { inputs, world, collaborators, loadWorkflowRuns }) => {
    world.secrets.add(settings.githubToken);
    const workflowRuns = await loadWorkflowRuns();
    const runs = workflowRuns(settings.githubToken, settings.repository, world.clock.epochMs);
    const { requestTimeout, timeout } = inputs;
    return sweepKeysReport(await sweepKeys({ ...settings, requestTimeout }, collaborators, runs), settings, timeout);
  },
};

function runMode<M extends ModeName>(mode: M, settings: ModeSettings[M], context: StepContext): Promise<StepReport> {
  return modeRunners[mode](settings, context);
}

function createCollaborators(
  { timeout, ...access }: Inputs,
  { toolkit, exchange, clock, random, cancellation }: World,
): Collaborators {
  return {
    api: new ControlApi(exchange, { ...access, requestTimeoutInput: 'request-timeout' }, toolkit),
    deadline: new Deadline(clock, timeout === 0 ? Number.POSITIVE_INFINITY : timeout, cancellation),
    log: toolkit,
    random,
  };
}

/** `create-key` saves the state for post here. */
function createPostStateStore(
  { onRevokeFailure }: ModeSettings['create-key'],
  { apiKey, baseUrl, summary }: Inputs,
  { toolkit, secrets, environment, clock }: World,
): PostStateStore {
  const known = { baseUrl: baseUrl.href, since: clock.epochMs(), onFailure: onRevokeFailure, summary };
  const run = runAndAttempt(environment);
  return {
    mask: (secret) => secrets.addForLaterSteps(secret),
    save: (state) =>
      toolkit.state(
        postStateName,
        state === undefined ? nothingToRevoke : serializePostState({ ...known, ...state }, apiKey, run),
      ),
  };
}

/** Reports a step that has no result. */
export async function reportError(error: unknown, world: World): Promise<false> {
  if (!(error instanceof BadInputs))
    world.toolkit.debug(world.secrets.redact(String(error instanceof Error ? error.stack : error)));
  const wantsSummary = world.toolkit.input('summary').toLowerCase() !== 'false';
  await publishReport(errorReport(error), world, 'ctl-action', wantsSummary);
  return false;
}

function publishReport(
  report: StepReport,
  { toolkit, secrets, environment, clock }: World,
  mode: string,
  wantsSummary: boolean,
): Promise<void> {
  return publish(report, clock.now(), { toolkit, secrets, environment, mode, wantsSummary });
}
