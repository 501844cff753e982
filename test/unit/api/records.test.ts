import { expect, it } from 'vitest';
import { cursorIn, Misshapen } from '../../../src/api/records.js';
import { parseJson } from '../../../src/text/json.js';

it('finds the cursor, whatever it is written as', () => {
  const cursorOf = (json: string) => cursorIn(parseJson(`{"pagination":${json}}`));
  expect(cursorOf('{"cursor":"2024-01-01T00:00:00.5Z"}')).toBe('2024-01-01T00:00:00.5Z');
  expect(cursorOf('{"cursor":1700000000.5}')).toBe('1700000000.5');
  expect(cursorOf('{"cursor":17000000000000000001}')).toBe('17000000000000000001');
  for (const none of ['null', '{}', '{"cursor":null}', '{"cursor":""}']) expect(cursorOf(none)).toBeUndefined();
  expect(cursorIn(parseJson('{}'))).toBeUndefined();
});

it('takes no cursor of another kind for the end of the list', () => {
  for (const odd of ['{"cursor":{"after":1}}', '{"cursor":["x"]}', '{"cursor":true}', '"x"', '[]']) {
    expect(() => cursorIn(parseJson(`{"pagination":${odd}}`))).toThrow(Misshapen);
  }
});
