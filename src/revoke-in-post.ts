import { PostStep } from './post-step.js';
import { runAsProcess } from './process.js';

// `process.exit()` waits for a pending name lookup, and SIGKILL would turn a mere warning into a failure. So glibc gives a
// silent name server 4 s per name. Its default of 10 s could hold post far beyond its 20 s.
process.env['RES_OPTIONS'] ??= 'timeout:2 attempts:2';

runAsProcess(new PostStep());
