import { loadWorkflowRuns } from './github/load-workflow-runs.js';
import { runAsProcess } from './run.js';
import { runStep, tellOfError } from './step.js';

runAsProcess({
  run: (world) => runStep(world, loadWorkflowRuns),
  tellOfError,
  onSignal: (cancel) => cancel.stop(),
});
