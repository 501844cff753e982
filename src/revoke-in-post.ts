import { PostStep } from './post-step.js';
import { runAsProcess } from './process.js';

runAsProcess(new PostStep());
