import type { Behaviour } from './behaviour.js';

export const summaries: readonly Behaviour[] = [
  {
    claim: 'a summary is shown with LF alone, and one at its end',
    main: "file('STEP_SUMMARY', '\\uFEFF# a\\r\\nb\\rc\\n\\n');  file('STEP_SUMMARY', 'd');",
  },
  {
    claim: 'a summary has its secrets masked line by line',
    main: "console.log('::add-mask::hidden-in-summary%0Asecond-in-summary'); file('STEP_SUMMARY', 'x hidden-in-summary\\nsecond-in-summary\\n');",
  },
  {
    claim: 'main and post have summaries of their own',
    main: "file('STEP_SUMMARY', 'main');",
    post: "file('STEP_SUMMARY', 'post');",
  },
  {
    claim: 'a summary of 1 MiB is shown',
    main: "file('STEP_SUMMARY', 'x'.repeat(1024 * 1024 - 1) + '\\n');",
  },
  {
    claim: 'a summary over 1 MiB is dropped with an error, and the step stays green',
    main: "file('STEP_SUMMARY', 'x'.repeat(1024 * 1024 + 1));",
  },
];
