import { lookupInChild } from './http/lookup-in-child.js';
import { PostStep } from './post-step.js';
import { runAsProcess } from './process.js';

// Name lookups run in a child process. A pending lookup in this process could keep the post step alive beyond its 20 s.
// SIGKILL would end the step in time, but would turn a success into a failure.
runAsProcess(new PostStep(), lookupInChild());
