import type { Group } from './behaviour.js';
import { commands, debug } from './commands.js';
import { cancels, ends } from './ends.js';
import { environment, tooLarge } from './environment.js';
import { inputs } from './inputs.js';
import { masks } from './masks.js';
import { outputs } from './outputs.js';
import { states } from './states.js';
import { summaries } from './summaries.js';

/** Each a job of its own, which does nothing for most of its time. */
export const cancelledGroups: readonly Group[] = cancels.map((cancel) => ({ topic: 'cancels', behaviours: [cancel] }));

/** Each group is one job. */
export const groups: readonly Group[] = [
  { topic: 'outputs, and how processes end', behaviours: [...outputs, ...ends] },
  { topic: 'inputs, states and summaries', behaviours: [...inputs, ...states, ...summaries] },
  {
    topic: 'variables and paths',
    env: { AT_JOB: 'job', AT_JOB_AND_STEP: 'job', AT_JOB_AND_FILE: 'job', EVERYWHERE: 'job', CI: 'of the job' },
    behaviours: environment,
  },
  { topic: 'commands', behaviours: commands },
  {
    topic: 'masks',
    secrets: { PLAIN: 'the-secret-of-the-job', LINES: '  first-line-of-it\n  second-line-of-it\n\n' },
    behaviours: masks,
  },
  { topic: 'debug', debug: true, behaviours: [debug] },
  { topic: 'a variable that is too large', behaviours: [tooLarge] },
];

export const allGroups: readonly Group[] = [...groups, ...cancelledGroups];
