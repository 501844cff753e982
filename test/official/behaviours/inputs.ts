import type { Table } from './behaviour.js';

const main = 'see(env(/^INPUT_/));';

export const inputs: Table = {
  'an input is a variable in capitals, spaces become underscores, and dashes stay': {
    inputs: '{ plain: {}, two words: {}, with-dash: {}, Mixed_Case.dot: {}, ümlaut: {} }',
    with: { PLAIN: 'a', 'two words': 'b', 'with-dash': 'c', 'mixed_case.DOT': 'd', ümlaut: 'e' },
    main,
  },
  'an input that is not given has its default as text, or is empty': {
    inputs:
      '{ none: {}, number: { default: 5 }, bool: { default: true }, no: { default: no }, empty: { default: "" }, text: { default: "a\\nb" } }',
    main,
  },
  'a step runs without an input that is required': {
    inputs: '{ needed: { required: true } }',
    main,
  },
  'an input that is set to an empty text gets no default': {
    inputs: '{ key: { default: fallback } }',
    with: { key: '' },
    main,
  },
  'a value of an input stays as it is given, with its white space and line breaks': {
    inputs: '{ key: {} }',
    with: { key: '  a\r\nb\n\tc  \n' },
    main,
  },
  'the default of an input may hold the token of the job, and the log masks it': {
    inputs: '{ token: { default: "${{ github.token }}" }, text: { default: "<${{ github.token }}>" } }',
    main: 'console.log(process.env.INPUT_TOKEN, process.env.INPUT_TEXT)',
  },
  'an input that the action does not declare is handed over, with a warning': {
    inputs: '{ known: {}, with-dash: { default: 1 } }',
    with: { knwon: 'x', Other: '' },
    main,
  },
  'inputs of an action that declares none are handed over, with a warning': {
    with: { key: 'x' },
    main,
  },
  'a variable of the step does not replace an input that the action declares, given or not': {
    inputs: '{ given: {}, absent: { default: fallback } }',
    with: { given: 'a' },
    env: { INPUT_GIVEN: 'forged', INPUT_ABSENT: 'forged', INPUT_OTHER: 'of the step' },
    main,
  },
  'post gets the inputs of main, whatever a step set in GITHUB_ENV': {
    inputs: '{ given: {}, absent: { default: fallback } }',
    with: { given: 'a' },
    main: "file('ENV', 'INPUT_GIVEN=forged\\nINPUT_ABSENT=forged\\nINPUT_UNDECLARED=forged\\n');",
    post: main,
  },
};
