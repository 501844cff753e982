import { CleanUpStep } from './clean-up-step.js';
import { runAsProcess } from './run.js';

const step = new CleanUpStep();

runAsProcess({
  run: (world) => step.run(world),
  tellOfError: (error, world) => step.tellOfError(error, world),
  // A key that stays alive is worse than a job that ends some seconds later.
  onSignal: () => undefined,
});
