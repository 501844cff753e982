import { errorReport, failureReport } from './action/failure-report.js';
import { BadInputs } from './action/inputs/input-reader.js';
import { type Inputs, maskParentKey, readInputs, runAndAttempt } from './action/inputs/inputs.js';
import { publishLogAndSummary, publishOutputs } from './action/publish.js';
import { ControlApi } from './api/control-api.js';
import { serializePostState } from './keys/post-state.js';
import { nothingToRevoke, postStateName } from './keys/post-state-name.js';
import { modes } from './modes/index.js';
import type { Collaborators, RunMode, Services } from './modes/mode.js';
import type { WorkflowRuns } from './modes/sweep-keys/run-lookups.js';
import type { World } from './process.js';
import { Deadline } from './time/deadline.js';

/** Loads the client that reads workflow runs of a repository with a token. `epochMs`: milliseconds since 1970. */
type LoadWorkflowRuns = () => Promise<(token: string, repository: string, epochMs: () => number) => WorkflowRuns>;

/** Returns true only if the result was confirmed and published. */
export async function runStep(world: World, loadWorkflowRuns: LoadWorkflowRuns): Promise<boolean> {
  const { toolkit, environment, secrets } = world;
  maskParentKey(toolkit.input, environment, secrets);
  // This comes before anything that can fail. If a step saves no state, post reads one that another step forged.
  toolkit.state(postStateName, nothingToRevoke);
  const inputs = readInputs(modes, toolkit.input, environment, secrets);
  const services = createServices(inputs, world, loadWorkflowRuns);
  const running = inputs.run(createCollaborators(inputs, world), services, inputs.timeout);
  for (const warning of inputs.warnings) toolkit.warning(warning);
  const { report, stateAfterOutputs } = await running.catch((error: unknown) => ({
    report: failureReport(error, inputs.timeout, inputs.mode === 'list-operations'),
    stateAfterOutputs: undefined,
  }));
  if (world.isReported()) return false;
  const context = { ...world, mode: inputs.mode, wantsSummary: inputs.summary };
  const warnings = publishOutputs(report, world.clock.now(), context);
  if (stateAfterOutputs !== undefined) services.postState.save(stateAfterOutputs);
  await publishLogAndSummary({ ...report, warnings: [...warnings, ...(report.warnings ?? [])] }, context);
  return report.succeeded;
}

type StepInputs = Inputs<keyof typeof modes, RunMode>;

function createCollaborators(
  { timeout, ...access }: StepInputs,
  { toolkit, exchange, clock, random, cancellation }: World,
): Collaborators {
  return {
    api: new ControlApi(exchange, { ...access, requestTimeoutInput: 'request-timeout' }, toolkit),
    deadline: new Deadline(clock, timeout === 0 ? Number.POSITIVE_INFINITY : timeout, cancellation),
    log: toolkit,
    random,
  };
}

function createServices(
  { apiKey, baseUrl, summary, requestTimeout }: StepInputs,
  { toolkit, secrets, environment, clock }: World,
  loadWorkflowRuns: LoadWorkflowRuns,
): Services {
  const since = clock.epochMs();
  const run = runAndAttempt(environment);
  return {
    postState: {
      mask: (secret) => secrets.addForLaterSteps(secret),
      save: (state) => {
        if (state === nothingToRevoke) return toolkit.state(postStateName, state);
        const { onFailure, ...key } = state;
        const saved = { baseUrl: baseUrl.href, since, onFailure, summary, ...key };
        toolkit.state(postStateName, serializePostState(saved, apiKey, run));
      },
    },
    workflowRuns: async (token, repository) => {
      secrets.add(token);
      return (await loadWorkflowRuns())(token, repository, clock.epochMs);
    },
    requestTimeout,
  };
}

/** Reports a step that has no result. */
export async function reportError(error: unknown, world: World): Promise<false> {
  if (!(error instanceof BadInputs))
    world.toolkit.debug(world.secrets.redact(String(error instanceof Error ? error.stack : error)));
  const wantsSummary = world.toolkit.input('summary').toLowerCase() !== 'false';
  const context = { ...world, mode: 'ctl-action', wantsSummary };
  const report = errorReport(error);
  publishOutputs(report, world.clock.now(), context);
  await publishLogAndSummary(report, context);
  return false;
}
