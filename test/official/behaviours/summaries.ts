import type { Table } from './behaviour.js';

export const summaries: Table = {
  'main and post have summaries of their own': {
    main: "file('STEP_SUMMARY', 'main');",
    post: "file('STEP_SUMMARY', 'post');",
  },
  'a summary of 1 MiB is shown': "file('STEP_SUMMARY', 'x'.repeat(1024 * 1024 - 1) + '\\n');",
  'a summary over 1 MiB is dropped with an error, and the step stays green':
    "file('STEP_SUMMARY', 'x'.repeat(1024 * 1024 + 1));",
};
