import { lookupInChild } from './http/lookup-in-child.js';
import { PostStep } from './modes/post/step.js';
import { runAsProcess } from './process.js';

// A child process does the lookups. A pending one in this process would keep it alive beyond the 20 s of post. SIGKILL
// would end it, but would turn a success into a failure.
runAsProcess(new PostStep(), lookupInChild());
