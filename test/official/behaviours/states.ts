import type { Table } from './behaviour.js';

/** Without those that a step of the group leaves to all that follow. */
const post = 'see(env(/^STATE_(?!x_)/i));';

export const states: Table = {
  'a state reaches post with its name as it was written, and no other step': {
    main: "file('STATE', 'id=7\\nOther Name=x\\nlong<<E\\none\\ntwo\\nE\\n');",
    next: post,
    post,
  },
  'state names that differ only in case are one name, spelled as at first': {
    main: "file('STATE', 'Key=1\\nKEY=2\\n');",
    post,
  },
  'a state by the old command counts, and the file wins over it': {
    main: "file('STATE', 'a=file\\n'); console.log('::save-state name=a::command'); console.log('::save-state name=b::command');",
    post,
  },
  'a bad line in the state file fails the step, and the lines before it reach post': {
    main: "file('STATE', 'a=1\\nbad\\nb=2\\n');",
    post,
  },
  'a state without a name reaches post': {
    main: "file('STATE', '=v\\na=1\\n');",
    post,
  },
  'a state that the step saved wins over one in GITHUB_ENV, which reaches post where the step saved none of that name':
    {
      main: "file('STATE', 'x_own=saved\\n'); file('ENV', 'STATE_x_own=forged\\nSTATE_X_OWN=forged\\nSTATE_x_other=forged\\n');",
      next: "file('ENV', 'STATE_x_own=of a later step\\n');",
      post: 'see(env(/^STATE_x_o/i));',
    },
  'a state that the step saved wins over a variable of the step': {
    env: { STATE_x_mine: 'of the step', STATE_x_loose: 'of the step' },
    main: "see(env(/^STATE_x_(mine|loose)$/)); file('STATE', 'x_mine=saved\\n');",
    post: 'see(env(/^STATE_x_(mine|loose)$/));',
  },
  'the state of an earlier step lies readable beside the files of a later one': {
    main: "file('STATE', 'secret=open\\n');",
    next: `const folder = dirname(process.env.GITHUB_STATE);
        see(readdirSync(folder).filter((name) => name.startsWith('save_state_')).some((name) => readFileSync(join(folder, name), 'utf8') === 'secret=open\\n'));`,
  },
  'a state that post saves is lost, and a bad line in its file fails post': {
    main: '',
    post: "file('STATE', 'a=1\\nbad\\n');",
  },
};
