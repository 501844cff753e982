import { lookupInChild } from './http/lookup-in-child.js';
import { PostStep } from './modes/post/step.js';
import { runAsProcess } from './process.js';

// Name lookups run in a child process. A pending lookup would keep the post step alive for more than its 20 s. SIGKILL
// would end the step, but would turn a success into a failure.
runAsProcess(new PostStep(), lookupInChild());
