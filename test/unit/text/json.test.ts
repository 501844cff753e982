import { expect, test } from 'vitest';
import { idText } from '../../../src/text/json.js';

test('an id is accepted only as a text that is not empty or as a safe integer', () => {
  const usable = ['p-1', '9007199254740993', 7, Number.MAX_SAFE_INTEGER];
  expect(usable.map((id) => idText(id))).toEqual(usable.map(String));
  const unusable = ['', 2 ** 53, 1.5, true, null, undefined, ['p-1'], { id: 'p-1' }];
  expect(unusable.map((id) => idText(id))).toEqual(unusable.map(() => undefined));
});
