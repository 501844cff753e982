import { errorReport, failureReport } from './action/failure-report.js';
import { BadInputs } from './action/inputs/input-reader.js';
import { type Inputs, maskParentKey, readInputs, runAndAttempt } from './action/inputs/inputs.js';
import { publishLogAndSummary, publishOutputs } from './action/publish.js';
import { ControlApi } from './api/control-api.js';
import { serializePostState } from './keys/post-state.js';
import { nothingToRevoke, postStateName } from './keys/post-state-name.js';
import { modes } from './modes/index.js';
import type { RunMode, Services } from './modes/mode.js';
import type { WorkflowRuns } from './modes/sweep-keys/run-lookups.js';
import type { World } from './process.js';
import { Deadline } from './time/deadline.js';

/** Loads a client for the workflow runs of a repository. `epochMs` returns the milliseconds since 1970. */
type LoadWorkflowRuns = () => Promise<(token: string, repository: string, epochMs: () => number) => WorkflowRuns>;

/** Resolves to true only if the result was confirmed and published. */
export async function runStep(world: World, loadWorkflowRuns: LoadWorkflowRuns): Promise<boolean> {
  const { toolkit, environment, secrets } = world;
  maskParentKey(toolkit.input, environment, secrets);
  // Every step saves a state before anything can fail. Otherwise post could read a state that another step forged.
  toolkit.state(postStateName, nothingToRevoke);
  const inputs = readInputs(modes, toolkit.input, environment, secrets);
  const services = createServices(inputs, world, loadWorkflowRuns);
  const collaborators = {
    api: new ControlApi(world.exchange, { ...inputs, requestTimeoutInput: 'request-timeout' }, toolkit),
    deadline: new Deadline(world.clock, inputs.timeout || Number.POSITIVE_INFINITY, world.cancellation),
    log: toolkit,
    random: world.random,
  };
  const running = inputs.run(collaborators, services, inputs.timeout);
  for (const warning of inputs.warnings) toolkit.warning(warning);
  const { report, stateAfterOutputs } = await running.catch((error: unknown) => ({
    report: failureReport(error, inputs.timeout, inputs.namesProject),
    stateAfterOutputs: undefined,
  }));
  if (world.isReported()) return false;
  const context = { ...world, mode: inputs.mode, wantsSummary: inputs.summary };
  const warnings = publishOutputs(report, world.clock.now(), context);
  if (stateAfterOutputs !== undefined) services.postState.save(stateAfterOutputs);
  await publishLogAndSummary({ ...report, warnings: [...warnings, ...(report.warnings ?? [])] }, context);
  return report.succeeded;
}

function createServices(
  { apiKey, baseUrl, summary, requestTimeout }: Inputs<string, RunMode>,
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

/** Reports an error that ended the step without a result. */
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
