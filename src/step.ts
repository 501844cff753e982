import { errorReport, failureReport } from './action/failure-report.js';
import { apiKeys, readInputs } from './action/inputs/input-reader.js';
import { publishLogAndSummary, publishOutputs } from './action/step-report.js';
import { ControlApi } from './api/control-api.js';
import { Rate } from './http/rate.js';
import { serializePostState } from './keys/post-state.js';
import { nothingToRevoke, postStateName } from './keys/post-state-name.js';
import { modes } from './modes/index.js';
import type { Services } from './modes/mode.js';
import type { loadWorkflowRuns } from './modes/sweep-keys/sweep-keys.js';
import type { World } from './process.js';
import { Deadline } from './time/deadline.js';

/** Resolves to true only if the result was confirmed and published. */
export async function runStep(world: World, loadRuns: typeof loadWorkflowRuns): Promise<boolean> {
  const { toolkit, environment, secrets, exchange, clock, random } = world;
  secrets.add(...apiKeys(toolkit.input, environment).slice(0, 1));
  // Without a saved state, post could read a state that another step forged. So the state is saved before anything can fail.
  toolkit.state(postStateName, nothingToRevoke);
  // Later steps read this output even if this one fails early.
  if (toolkit.input('operation-id') === 'all') toolkit.output('idle-project-ids', '[]');
  const inputs = readInputs(modes, toolkit.input, environment, secrets);
  const { apiKey, baseUrl, summary, timeout } = inputs;
  const services: Services = {
    savePostState: (state) => {
      if (state.minted?.secret) secrets.add(state.minted.secret);
      const saved = { baseUrl: baseUrl.href, summary, ...state };
      toolkit.state(postStateName, serializePostState(saved, apiKey, environment));
    },
    mask: (found) => secrets.add(...found),
    workflowRuns: async (token, repository) => {
      secrets.add(token);
      return (await loadRuns())(token, repository, clock.epochMs);
    },
  };
  const rate = new Rate(clock, random);
  const collaborators = {
    api: new ControlApi({ apiKey, baseUrl, exchange, log: toolkit, rate }),
    deadline: new Deadline(clock, timeout || Number.POSITIVE_INFINITY, world.cancellation),
    rate,
    log: toolkit,
    random,
  };
  const running = inputs.runMode(collaborators, services, timeout);
  const { report, stateAfterOutputs } = await running.catch((error: unknown) => ({
    report: failureReport(error, timeout),
    stateAfterOutputs: undefined,
  }));
  if (world.isReported()) return false;
  const context = { ...world, mode: inputs.mode, wantsSummary: summary };
  const warnings = publishOutputs(report, context);
  await publishLogAndSummary({ ...report, warnings: [...warnings, ...(report.warnings ?? [])] }, context);
  if (world.isReported()) return false;
  toolkit.output('status', report.status);
  // The status is written first. If that fails, this state is not saved, so post revokes the key.
  if (stateAfterOutputs !== undefined) services.savePostState(stateAfterOutputs);
  return report.succeeded;
}

export async function reportError(error: unknown, world: World): Promise<false> {
  const wantsSummary = world.toolkit.input('summary').toLowerCase() !== 'false';
  const context = { ...world, mode: 'ctl-action', wantsSummary };
  const report = errorReport(error);
  try {
    publishOutputs(report, context);
  } finally {
    // An earlier status may say that the step succeeded.
    world.toolkit.output('status', report.status);
  }
  await publishLogAndSummary(report, context);
  return false;
}
