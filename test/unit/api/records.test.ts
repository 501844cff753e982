import { expect, it } from 'vitest';
import { fieldTime, parseCursor, parseOperation, UnexpectedShapeError } from '../../../src/api/records.js';
import { parseJson } from '../../../src/text/json.js';

it('finds the cursor, whatever it is written as', () => {
  const cursorOf = (json: string) => parseCursor(parseJson(`{"pagination":${json}}`));
  expect(cursorOf('{"cursor":"2024-01-01T00:00:00.5Z"}')).toBe('2024-01-01T00:00:00.5Z');
  expect(cursorOf('{"cursor":1700000000.5}')).toBe('1700000000.5');
  expect(cursorOf('{"cursor":17000000000000000001}')).toBe('17000000000000000001');
  for (const none of ['null', '{}', '{"cursor":null}', '{"cursor":""}']) expect(cursorOf(none)).toBeUndefined();
  expect(parseCursor(parseJson('{}'))).toBeUndefined();
});

it('takes no cursor of another kind for the end of the list', () => {
  for (const odd of ['{"cursor":{"after":1}}', '{"cursor":["x"]}', '{"cursor":true}', '"x"', '[]']) {
    expect(() => parseCursor(parseJson(`{"pagination":${odd}}`))).toThrow(UnexpectedShapeError);
  }
});

it('a timestamp without a time zone is UTC, whatever the zone of the runner is', () => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'America/New_York';
  try {
    const epochMs = (created_at: string) => fieldTime({ id: '1', record: { created_at } }, 'created_at');
    const noon = Date.UTC(2024, 0, 1, 12);
    expect(epochMs('2024-01-01T12:00:00')).toBe(noon);
    expect(epochMs('2024-01-01T12:00:00.000')).toBe(noon);
    expect(epochMs('2024-01-01T12:00:00Z')).toBe(noon);
    expect(epochMs('2024-01-01T13:00:00+01:00')).toBe(noon);
    for (const other of ['2024', '2024-01-01', 'noon', '']) expect(epochMs(other)).toBeUndefined();
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});

it.each([
  '::error::x',
  ' ::error::x',
  'a ##[error]x',
  '##[group]',
  'a\nb',
  'a\u0000',
  'a\u0085',
  'a\u2028##[x]',
  '\uD800',
  '',
])('an operation with the id %j is unusable, as a later step could print a command of the runner', (id) => {
  expect(() => parseOperation({ id, status: 'finished' }, 'operations[3]', 'p')).toThrow(
    /`operations\[3\]\.id` should be/,
  );
});

it.each(['a::b', '#[x]', '## [x]', '🙂', 'op-1'])('an operation may have the id %j', (id) => {
  expect(parseOperation({ id, status: 'finished' }, 'operations[3]', 'p').id).toBe(id);
});

it('an operation may name its project by a number, with all its digits', () => {
  const operation = (json: string) => parseOperation(parseJson(json), 'operation', '9007199254740993');
  expect(operation('{"id":"a","status":"finished","project_id":9007199254740993}').id).toBe('a');
  expect(() => operation('{"id":"a","status":"finished","project_id":9007199254740992}')).toThrow(UnexpectedShapeError);
});
