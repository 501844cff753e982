import type { Behaviour, Group, Table } from './behaviour.js';
import { commands, debug } from './commands.js';
import { cancels, ends } from './ends.js';
import { environment, tooLarge } from './environment.js';
import { inputs } from './inputs.js';
import { masks } from './masks.js';
import { outputs } from './outputs.js';
import { states } from './states.js';
import { summaries } from './summaries.js';

const rows = (table: Table): readonly Behaviour[] =>
  Object.entries(table).map(([claim, given]) => ({ claim, ...(typeof given === 'string' ? { main: given } : given) }));

/** Each a job of its own, which does nothing for most of its time. */
export const cancelledGroups: readonly Group[] = rows(cancels).map((cancel) => ({
  topic: 'cancels',
  behaviours: [{ ...cancel, isCancelled: true, needsProcess: true }],
}));

/** Each group is one job. */
export const groups: readonly Group[] = [
  { topic: 'outputs, and how processes end', behaviours: rows({ ...outputs, ...ends }) },
  { topic: 'inputs, states and summaries', behaviours: rows({ ...inputs, ...states, ...summaries }) },
  {
    topic: 'variables and paths',
    env: { AT_JOB: 'job', AT_JOB_AND_STEP: 'job', AT_JOB_AND_FILE: 'job', EVERYWHERE: 'job' },
    behaviours: rows(environment),
  },
  { topic: 'commands', behaviours: rows(commands) },
  {
    topic: 'masks',
    secrets: { PLAIN: 'the-secret-of-the-job', LINES: '  first-line-of-it\n  second-line-of-it\n\n' },
    behaviours: rows(masks),
  },
  { topic: 'debug', debug: true, behaviours: rows(debug) },
  { topic: 'a variable that is too large', behaviours: rows(tooLarge) },
];

export const allGroups: readonly Group[] = [...groups, ...cancelledGroups];
