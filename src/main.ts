import { runAsProcess } from './run.js';
import { runStep, tellOfError } from './step.js';

runAsProcess({
  // A chunk of its own: large, and needed by one mode alone.
  run: (world) => runStep(world, async () => (await import('./github/workflow-runs.js')).workflowRuns),
  tellOfError,
  onSignal: (cancel) => cancel.stop(),
});
