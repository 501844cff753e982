// Writes the README's tables of inputs and outputs from action.yml; with --check only says whether they are fresh.
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const { inputs, outputs } = parse(readFileSync('action.yml', 'utf8'));
const readme = readFileSync('README.md', 'utf8');

const fresh = [
  ['inputs', table(['input', 'modes', 'default', 'meaning'], Object.entries(inputs).map(inputRow))],
  ['outputs', table(['output', 'modes', 'value'], Object.entries(outputs).map(outputRow))],
].reduce(putTable, readme);

if (!process.argv.includes('--check')) {
  writeFileSync('README.md', fresh);
} else if (fresh !== readme) {
  console.error('The tables of README.md are not those of action.yml. `npm run fix` writes them.');
  process.exitCode = 1;
}

function inputRow([name, { description, required, default: standard }]) {
  const { modes, meaning } = partsOf(description);
  // A default that no expression of the runner can say, and what only some modes require, end the description.
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

/** A description begins with its modes, unless they are all: `In create-key, list-*: what it means.` */
function partsOf(description) {
  const [, modes = 'all', meaning] = /^(?:In (.+?): )?(.*)$/s.exec(description);
  return { modes, meaning };
}

/** In a cell the last full stop is left out, and a first word is as in a line of a list. */
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
  if (from === -1 || to < from) throw new Error(`README.md has no place for the table of ${name}`);
  return text.slice(0, from + begin.length) + content + text.slice(to);
}
