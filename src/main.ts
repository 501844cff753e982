import { loadWorkflowRuns } from './modes/sweep-keys/sweep-keys.js';
import { runAsProcess } from './process.js';
import { reportError, runStep } from './step.js';

runAsProcess({ run: (world) => runStep(world, loadWorkflowRuns), reportError });
