import { lookupInChild } from './http/lookup-in-child.js';
import { PostStep } from './modes/post/step.js';
import { runAsProcess } from './process.js';

const step = new PostStep();

runAsProcess(
  {
    run: (world) => step.run(world),
    reportError: (error, world) => step.reportError(error, world),
    // A signal does not stop post: a live key is worse than a job that ends some seconds later.
    onSignal: () => undefined,
  },
  // A child process does the lookups. A pending one in this process would keep it alive beyond the 20 s of post. SIGKILL
  // would end it, but would turn a success into a failure.
  lookupInChild(),
);
