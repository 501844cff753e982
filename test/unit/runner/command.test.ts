import { expect, test } from 'vitest';
import { parseCommand } from '../../runner/command.js';

const KNOWN = new Set(['error', 'set-output', 'group']);

test.each([
  ['::error::it broke', 'error', {}, 'it broke'],
  ['  \t::error::it broke', 'error', {}, 'it broke'],
  ['::ERROR::it broke', 'error', {}, 'it broke'],
  ['::error title=A%3A B%2C C,line=3::x', 'error', { title: 'A: B, C', line: '3' }, 'x'],
  ['::error Title=,=x,a=b=c::x', 'error', { a: 'b=c' }, 'x'],
  ['::error::a%0Ab%0Dc%25%3A%2C', 'error', {}, 'a\nb\rc%%3A%2C'],
  ['::error::%250A', 'error', {}, '%0A'],
  ['::error::a::b', 'error', {}, 'a::b'],
  ['##[error]it broke', 'error', {}, 'it broke'],
  ['said ##[set-output name=a;b=c%3B%5D]v%0Aw', 'set-output', { name: 'a', b: 'c;]' }, 'v\nw'],
  ['::nothing::##[group]title', 'group', {}, 'title'],
])('%j is a command', (line, name, properties, data) => {
  expect(parseCommand(line, KNOWN)).toEqual({ name, properties, data });
});

test.each([
  'plain',
  'said ::error::it broke',
  '::error:it broke',
  '::errors::it broke',
  '::error',
  '# #[error]x',
  '##[error',
  '##[other]x ##[error]y',
])('%j is none', (line) => {
  expect(parseCommand(line, KNOWN)).toBeUndefined();
});
