import type { Table } from './behaviour.js';

export const summaries: Table = {
  'a summary is shown with LF alone, and one at its end':
    "file('STEP_SUMMARY', '\\uFEFF# a\\r\\nb\\rc\\n\\n');  file('STEP_SUMMARY', 'd');",
  'a summary has its secrets masked line by line':
    "console.log('::add-mask::hidden-in-summary%0Asecond-in-summary'); file('STEP_SUMMARY', 'x hidden-in-summary\\nsecond-in-summary\\n');",
  'main and post have summaries of their own': {
    main: "file('STEP_SUMMARY', 'main');",
    post: "file('STEP_SUMMARY', 'post');",
  },
  'a summary of 1 MiB is shown': "file('STEP_SUMMARY', 'x'.repeat(1024 * 1024 - 1) + '\\n');",
  'a summary over 1 MiB is dropped with an error, and the step stays green':
    "file('STEP_SUMMARY', 'x'.repeat(1024 * 1024 + 1));",
};
