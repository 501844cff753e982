import { CleanUpStep } from './clean-up-step.js';
import { lookupInChild } from './http/lookup-in-child.js';
import { runAsProcess } from './run.js';

const step = new CleanUpStep();

runAsProcess(
  {
    run: (world) => step.run(world),
    tellOfError: (error, world) => step.tellOfError(error, world),
    // A signal does not stop post: a live key is worse than a job that ends some seconds later.
    onSignal: () => undefined,
  },
  // A pending lookup in this process would hold it beyond the 20 s of post. Only a failed step may end itself by SIGKILL.
  lookupInChild(),
);
