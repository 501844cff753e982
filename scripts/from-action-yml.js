// Generates the tables of docs/reference.md, node24/action.yml and action-types.yml from action.yml. node24/action.yml is the
// same action without the warning about Node 20. With --check, it only compares them with action.yml.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

const source = readFileSync('action.yml', 'utf8');
const { inputs, outputs, runs } = parse(source);
const read = (path) => readFileSync(path, 'utf8');

const integer = { type: 'integer' };
const listOf = (separator) => ({ type: 'list', separator, 'list-item': { type: 'string' } });
const oneOf = (...words) => ({ type: 'enum', 'allowed-values': words });
/** What action.yml cannot say. All others are strings, or booleans if their default is one. */
const types = {
  inputs: {
    mode: oneOf(...inputs.mode.description.match(/(?<=`)[a-z]+-[a-z]+(?=`)/g)),
    'project-id': listOf(','),
    'operation-id': listOf(','),
    'key-id': listOf(','),
    filter: listOf('\n'),
    'fail-on': oneOf('empty', 'match'),
    limit: integer,
    'max-batches': integer,
    'on-revoke-failure': oneOf('warn', 'fail'),
  },
  outputs: {
    status: oneOf(...new Set(outputs.status.description.match(/(?<=`)(?:not-)?[a-z]+(?=`)/g))),
    count: integer,
  },
};

const reference = [
  ['inputs', table(['input', 'modes', 'default', 'meaning'], Object.entries(inputs).map(inputRow))],
  ['outputs', table(['output', 'modes', 'value'], Object.entries(outputs).map(outputRow))],
].reduce(putTable, read('docs/reference.md'));

for (const [path, fresh] of [
  ['docs/reference.md', reference],
  ['node24/action.yml', onNode24(source)],
  ['action-types.yml', actionTypes()],
  ['node24/action-types.yml', actionTypes()],
]) {
  if (!process.argv.includes('--check')) {
    writeFileSync(path, fresh);
  } else if (!existsSync(path) || fresh !== read(path)) {
    console.error(`${path} is not what action.yml says. \`npm run fix\` writes it.`);
    process.exitCode = 1;
  }
}

/** Uses the same bundle on another version of Node. */
function onNode24(text) {
  const changes = [
    [
      /^description: >-\n/m,
      '$&  On Node 24, for runners from 2.327 on: without the warning about Node 20 that github.com shows.\n',
    ],
    [`using: ${runs.using}`, 'using: node24'],
    [`main: ${runs.main}`, `main: ../${runs.main}`],
    [`post: ${runs.post}`, `post: ../${runs.post}`],
  ];
  return `# Written from ../action.yml by npm run fix.\n${changes.reduce((before, change) => before.replace(...change), text)}`;
}

/** In the format of typesafegithub/github-actions-typing, for generators of workflows that check types. */
function actionTypes() {
  const typed = (kind, entries) => {
    const unknown = Object.keys(types[kind]).filter((name) => !(name in entries));
    if (unknown.length > 0) throw new Error(`action.yml has no ${kind} ${unknown.join(', ')}`);
    return Object.fromEntries(
      Object.entries(entries).map(([name, entry]) => [name, types[kind][name] ?? plainType(entry)]),
    );
  };
  const text = stringify(
    { inputs: typed('inputs', inputs), outputs: typed('outputs', outputs) },
    { aliasDuplicateObjects: false, blockQuote: false },
  );
  return `# Written from action.yml by npm run fix. Format: https://github.com/typesafegithub/github-actions-typing\n${text}`;
}

function plainType({ default: standard }) {
  return { type: ['true', 'false'].includes(standard) ? 'boolean' : 'string' };
}

function inputRow([name, { description, required, default: standard }]) {
  const { modes, meaning } = partsOf(description);
  // `default:` cannot express every default: such a description ends with `Default: …`. It ends with `Required` if only
  // some modes require the input.
  const [, text, told, demanded] = /^(.*?)(?: Default: (.*)\.| (Required)\.)?$/s.exec(meaning);
  const value = required
    ? 'required'
    : standard === undefined
      ? (told ?? demanded?.toLowerCase() ?? '')
      : `\`${standard}\``;
  return [`\`${name}\``, modes, value, sentence(text)];
}

function outputRow([name, { description }]) {
  const { modes, meaning } = partsOf(description);
  return [`\`${name}\``, modes, sentence(meaning)];
}

/** A description begins with its modes, unless it applies to all: `In create-key, list-*: what it means.` */
function partsOf(description) {
  const [, modes = 'all', meaning] = /^(?:In (.+?): )?(.*)$/s.exec(description);
  return { modes, meaning };
}

/** A table cell has no final full stop, and begins in lower case. */
function sentence(text) {
  const [, first, rest] = /^([A-Z][a-z]+\b)?(.*)$/s.exec(text.replace(/\.$/, ''));
  return `${first?.toLowerCase() ?? ''}${rest}`;
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |'))
    .join('\n');
}

function putTable(text, [name, content]) {
  const [begin, end] = [`<!-- ${name}: written from action.yml by npm run fix -->\n`, `\n<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`docs/reference.md has no place for the table of ${name}`);
  return text.slice(0, from + begin.length) + content + text.slice(to);
}
