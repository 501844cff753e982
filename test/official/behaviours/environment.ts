import type { Table } from './behaviour.js';

export const environment: Table = {
  'a variable of the step wins over GITHUB_ENV, which wins over the job, in main and in post': {
    env: { AT_JOB_AND_STEP: 'step', EVERYWHERE: 'step', AT_STEP: 'step' },
    main: "see(env(/^AT_|^EVERYWHERE$/)); file('ENV', 'AT_JOB_AND_FILE=file\\nEVERYWHERE=file\\nAT_FILE=file\\nAT_STEP=file\\n');",
    next: 'see(env(/^AT_|^EVERYWHERE$/));',
    post: 'see(env(/^AT_|^EVERYWHERE$/));',
  },
  'of a variable that two steps set, the last value reaches post': {
    main: "file('ENV', 'TWICE=first\\n');",
    next: "see(env(/^TWICE$/)); file('ENV', 'TWICE=second\\n');",
    post: 'see(env(/^TWICE$/));',
  },
  'a variable may be empty, long, or of several lines with carriage returns': {
    main: "file('ENV', 'FORM_A=\\nFORM_B<<E\\none\\r\\ntwo\\nE\\nFORM_C=x\\r\\nFORM_D=' + 'x'.repeat(100_000) + '\\n');",
    next: 'see(env(/^FORM_/));',
  },
  'NODE_OPTIONS in GITHUB_ENV is refused with an error in any case, the other lines count, and the step is green': {
    main: "file('ENV', 'BEFORE_OPTIONS=1\\nNODE_OPTIONS=--no-warnings\\nnode_options=x\\nAFTER_OPTIONS=1\\n');",
    next: 'see(env(/^NODE_OPTIONS$|_OPTIONS$/i));',
  },
  'a bad line in GITHUB_ENV fails the step, and those before it count': {
    main: "file('ENV', 'BEFORE_BAD=1\\nbad\\nAFTER_BAD=1\\n');",
    next: 'see(env(/_BAD$/));',
  },
  'GITHUB_ENV replaces no variable that the runner sets, and adds others of their kind': {
    main: `see(process.env.GITHUB_ACTIONS);
        file('ENV', ['GITHUB_SHA', 'GITHUB_RUN_ID', 'GITHUB_OUTPUT', 'RUNNER_OS', 'RUNNER_TEMP', 'GITHUB_ACTIONS'].map((name) => name + '=forged\\n').join(''));
        file('ENV', 'GITHUB_MADE_UP=forged\\nRUNNER_MADE_UP=forged\\nACTIONS_MADE_UP=forged\\nGITHUB_TOKEN=forged\\n');`,
    next: 'see(Object.keys(env(/^(GITHUB|RUNNER|ACTIONS)_/)).filter((name) => process.env[name] === "forged"), process.env.GITHUB_ACTIONS);',
  },
  'a variable of the step replaces none that the runner sets': {
    env: {
      GITHUB_SHA: 'of the step',
      RUNNER_OS: 'of the step',
      GITHUB_MADE_UP_TOO: 'of the step',
      GITHUB_ACTIONS: 'no',
    },
    main: 'see(Object.keys(env(/./)).filter((name) => process.env[name] === "of the step"), process.env.GITHUB_ACTIONS);',
    differs: {
      why: 'The suite gives variables of the runner other values, to see what the action makes of them.',
      parts: ['seen'],
    },
  },
  'a process has the runner’s own variables, and files of its own for commands': {
    main: `see(Object.keys(env(/^(RUNNER_|ACTIONS_)|^GITHUB_(ENV|PATH|OUTPUT|STATE|STEP_SUMMARY|ACTIONS|WORKSPACE|ARTIFACTS)/)).filter((name) => !/MADE_UP|^RUNNER_ENVIRONMENT$/.test(name)));
        see(['ENV', 'PATH', 'OUTPUT', 'STATE', 'STEP_SUMMARY'].map((name) => readFileSync(process.env['GITHUB_' + name], 'utf8')));
        file('STATE', 'output=' + process.env.GITHUB_OUTPUT + '\\n');
        file('OUTPUT', 'a=1\\n');`,
    post: 'see(process.env.GITHUB_OUTPUT === process.env.STATE_output, readFileSync(process.env.GITHUB_OUTPUT, "utf8"));',
  },
  'a process runs in the workspace, without input, its command files below the temporary folder that steps share': {
    main: `see(process.cwd() === process.env.GITHUB_WORKSPACE, readFileSync(0, 'utf8'), dirname(process.env.GITHUB_OUTPUT) === join(process.env.RUNNER_TEMP, '_runner_file_commands'));
        writeFileSync(join(process.env.RUNNER_TEMP, 'left'), 'by main');`,
    next: "see(readFileSync(join(process.env.RUNNER_TEMP, 'left'), 'utf8'));",
    needsProcess: true,
  },
};

/** Breaks the steps that come after it in its job. */
export const tooLarge: Table = {
  'a variable of 128 KiB in GITHUB_ENV lets no later process of the job start, and post fails': {
    main: "file('ENV', 'TOO_LARGE=' + 'x'.repeat(128 * 1024) + '\\n');",
    next: '',
    post: '',
    needsProcess: true,
    differs: {
      why: 'The words are those of the operating system; the suite’s runner throws, for no test means that.',
      parts: ['annotations', 'log'],
    },
  },
};
