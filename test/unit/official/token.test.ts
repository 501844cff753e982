import { expect, test } from 'vitest';
import { tokenOf } from '../../official/token.js';

test.for([
  ['plain {text}', 'plain {text}'],
  ['${{ secrets.KEY }}', { type: 3, expr: 'secrets.KEY' }],
  ["it's {v}${{ a }}${{ b.c }}", { type: 3, expr: "format('it''s {{v}}{0}{1}', a, b.c)" }],
  ['a\n${{ a }}', { type: 3, expr: "format('a\n{0}', a)" }],
] as const)('%j is compiled as the service compiles it', ([text, token]) => {
  expect(tokenOf(text)).toEqual(token);
});
