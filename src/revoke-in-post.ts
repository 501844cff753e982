import { CleanUpStep } from './clean-up-step.js';
import { lookupInChild } from './http/lookup-in-child.js';
import { runAsProcess } from './run.js';

const step = new CleanUpStep();

runAsProcess(
  {
    run: (world) => step.run(world),
    tellOfError: (error, world) => step.tellOfError(error, world),
    // A key that stays alive is worse than a job that ends some seconds later.
    onSignal: () => undefined,
  },
  // A lookup in this process would hold it beyond its 20 s, and a step that succeeded may not kill itself.
  lookupInChild(),
);
