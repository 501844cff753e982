import { expect, type TestContext, test } from 'vitest';
import { attacks } from '../kit/hostile-values.js';
import { type Inputs, operationId as id, type Mode, modes, rejectInputs, requiredInputs } from '../kit/inputs.js';
import { errorOf, type Stage, setStage, staged, warningsOf } from '../kit/stage.js';
import { defectsOf } from '../kit/text-defects.js';
import { all, ended } from '../kit/wait.js';
import { loadManifest } from '../runner/environment.js';

staged('one error lists all invalid inputs of a step, and what each should be', async ({ stage }) => {
  const result = await rejectInputs(stage, 'wait-operation', {
    timeout: '10 minutes',
    summary: 'yes',
    'operation-id': 'ALL',
    'fail-on': 'match',
    'key-id': '5',
    failon: 'empty',
  });
  const lines = errorOf(result).split('\n');
  expect([lines.at(-1), lines.length]).toEqual(['No request was sent.', 7]);
  for (const [name, value, expected] of [
    ['timeout', '10 minutes', '90s'],
    ['summary', 'yes', 'true or false'],
    ['operation-id', 'ALL', 'a UUID, or the word “all”'],
    ['fail-on', 'match', 'valid values: empty'],
    ['key-id', '5', 'expected it to be empty'],
  ])
    expect(lines.find((line) => line.startsWith(`Bad input: ${name}: “${value}” `))).toContain(expected);
  expect(result.summary).toContain('10 minutes');
});

staged.for<[what: string, inputs: Inputs, env: Record<string, string>, name: string]>([
  ['under `with`', { failon: 'empty' }, {}, 'failon'],
  ['from an environment variable', {}, { INPUT_API_KEY: 'hunter2' }, 'api_key'],
])('a step rejects an unknown input %s', async ([, inputs, env, name], { stage }) => {
  const result = await rejectInputs(stage, 'list-keys', inputs, { env });
  const says = `^Bad input: ${name}: is not an input; valid inputs: .* filter, .*env:.* INPUT_${name.toUpperCase()}`;
  expect(errorOf(result)).toMatch(new RegExp(says));
  expect(result.output + result.summary).not.toContain('hunter2');
});

staged('a step rejects an unknown input even beside an invalid mode, but ignores an empty one', async ({ stage }) => {
  const error = errorOf(await rejectInputs(stage, 'list-key', { failon: 'empty', timeout: '0' }));
  expect(error).toMatch(/^Bad input: mode: “list-key” is not a valid value; .* wait-operation, .*, sweep-keys\.$/m);
  expect(error).toMatch(/^Bad input: failon: is not an input;/m);
  expect(error).not.toContain('timeout: ');
  expect((await stage.runMode('list-keys', { failon: ' ' })).conclusion).toBe('success');
});

/** Each value is rejected, and no error shows the secret hunter2. */
type Row = readonly [mode: Mode, name: string, what: string, values: readonly string[], message: string];

const noBoolean = 'is not a boolean; expected true or false';
const noBatches = 'is not a number of batches; expected 1 to 256';
const leftover = ['null', 'undefined', `\${{ x }}`, `a\${{`];
const noValue = 'is no value. Check the expression or the step';
const misspelled = 'Check the expression: it is empty if a step id, an output or a variable is misspelled';
const emptyId = 'is empty or has an empty id';
const noUrl = 'is empty; expected the URL of the control API, in this input or in the environment';
const noWord = 'is not a valid value; valid values:';
const aPause = 'is not valid; expected auto or a duration from 100ms to 5d';
const longPause = 'is not shorter than timeout; expected a shorter pause, or auto';
const aDuration = 'is not valid; expected a duration from 1ms to 5d';
const anAge = 'is not valid; expected a duration with a unit from 1ms to 366d';
const badKey = 'characters, without spaces, line breaks or accents. Check the value of the secret';
const badKeyId = 'is not a key id; expected an integer';
const noProject = 'is not a project id: it must not be empty, “.” or “..”, or contain “/”';
const unusable =
  'is not a usable URL; expected one like https://host/api/v2, without user, password, query and fragment';
const noList = 'is not a list of ids; expected';
const several = 'lists 2 ids; expected at most 1';
const booleans: [Mode, string][] = [
  ['list-keys', 'summary'],
  ['wait-operation', 'fail-fast'],
  ['create-key', 'revoke-in-post'],
  ['revoke-key', 'ignore-not-found'],
  ['sweep-keys', 'dry-run'],
];
// The end of a URL may be cut off, and the end of its password with it. The password may hold an `@`.
const urls = [`p://u:hunter2${'x'.repeat(100)}@host/x`, 'p://u:a@hunter2@host/x', 'p://u:hunter2', 'u:hunter2@host'];
const badUrls = ['//host/v2', 'word', 'ftp://h', 'https://user:hunter2@host/v2', 'u:hunter2@host'];
const longUrls = ['https://host/v2?key=hunter2', 'https://host/v2#hunter2'];
const almostIds = [id.slice(1), `${id}1`, `(${id})`, id.replaceAll('-', '')];
const otherJson = ['{"operation":{"id":"hunter2"}}', '["hunter2"', '[{"id":"hunter2"}]'];
const oddKeys = ['hunter2 x', 'hunter2-\nhunter2+', 'hunter2ï', 'hunter2\u200B', 'hunter2\u0001'];
const oddTokens = ['', 'hunter2\nx', 'hunter2 x', 'hünter-hunter2'];
const quoted = ['timeout', 'fail-fast', 'poll-interval', 'fail-on'];

test.for<Row>([
  ['list-keys', 'mode', 'is empty', [''], `is empty; valid values: ${modes.join(', ')}.`],
  ...modes
    .filter((mode) => mode !== 'wait-operation')
    .map((mode): Row => [mode, 'timeout', 'is 0 or more than 5 days', ['0', '5d1ms'], aDuration]),
  ['wait-operation', 'timeout', 'is more than 5 days', ['5d1ms'], 'is not valid; expected a duration from 0ms to 5d'],
  ['wait-operation', 'poll-interval', 'is less than 100 ms', ['0', '99ms'], aPause],
  ['wait-operation', 'poll-interval', 'is not shorter than timeout', ['10m', '600'], longPause],
  ['list-operations', 'since', 'is 0, more than 366 days or without a unit', ['0s', '24', '366d1ms'], anAge],
  ['list-keys', 'older-than', 'has no unit or no number', ['90', 'old'], anAge],
  ...booleans.map(([mode, name]): Row => [mode, name, 'is not a boolean', ['yes', 'tRUE'], noBoolean]),
  ['sweep-keys', 'fail-on', 'is the word empty', ['empty'], `${noWord} match`],
  ['list-keys', 'fail-on', 'is match with a capital letter', ['Match'], `${noWord} empty, match.`],
  ['create-key', 'on-revoke-failure', 'is neither warn nor fail', ['error', 'Warn'], `${noWord} warn, fail`],
  ['list-keys', 'limit', 'is negative, a fraction or a word', ['-1', '1.5', 'many'], 'is not a number of records'],
  ['list-projects', 'max-batches', 'is 0, 257 or 1.5', ['0', '257', '1.5'], noBatches],
  ['list-operations', 'project-id', 'is the word null or undefined', leftover.slice(0, 2), noValue],
  ['wait-operation', 'operation-id', 'is the word null or undefined', leftover.slice(0, 2), noValue],
  ['revoke-key', 'key-id', 'is the word null or undefined', leftover.slice(0, 2), noValue],
  ['list-keys', 'base-url', 'is the word null or an unevaluated expression', leftover, noValue],
  ['list-operations', 'project-id', 'is empty', [''], `${emptyId}; expected a project id. ${misspelled}`],
  ['wait-operation', 'operation-id', 'is empty', [''], `, unless response-file is set. ${misspelled}`],
  ['revoke-key', 'key-id', 'is empty', [''], `${emptyId}; expected key ids, or the input key-name. ${misspelled}`],
  ['list-keys', 'base-url', 'is empty', [''], noUrl],
  ['list-operations', 'project-id', 'would change the URL', ['.', '..', 'a/b', 'a\u0001b', 'a\u0085b'], noProject],
  ['wait-operation', 'project-id', 'lists two projects for one operation id', ['a b', '["a","b"]'], several],
  ['wait-operation', 'operation-id', 'is almost a UUID', almostIds, 'expected a UUID'],
  ['wait-operation', 'operation-id', 'lists null', [`["${id}","null"]`, `["${id}",null]`], `“null” ${noValue}`],
  ['wait-operation', 'operation-id', 'lists an empty id', [`${id},`, `${id}, ,${id}`], emptyId],
  ['wait-operation', 'operation-id', 'is JSON, but no list of ids', otherJson, noList],
  ['revoke-key', 'key-id', 'is not a decimal integer', ['shop', '-5', '0x10', '٣', '5/../6'], badKeyId],
  // A rounded id would be that of another key.
  ['revoke-key', 'key-id', 'is JSON with a fraction or an unsafe integer', ['[9007199254740993]', '[1.5]'], noList],
  ['list-keys', 'base-url', 'is not an http URL or has a password', badUrls, unusable],
  ['list-keys', 'base-url', 'has a query or a fragment', longUrls, unusable],
  ['list-keys', 'api-key', 'has a blank, a control character or a letter outside ASCII', oddKeys, badKey],
  ['list-keys', 'api-key', 'is the word undefined', ['undefined'], noValue],
  ['sweep-keys', 'github-token', 'is empty or has a blank or an accent', oddTokens, badKey],
  ...quoted.map((name): Row => ['wait-operation', name, 'is a URL with a password', urls, '“***” is not']),
  ['wait-operation', 'since', 'is set beside ids', ['1h'], 'has no effect here, because of mode or another input'],
])('%s rejects the input %s if it %s', async ([mode, name, , values, message], context) => {
  const stage = await setStage(context, { oneJob: true });
  for (const value of values) {
    const error = errorOf(await rejectInputs(stage, mode, { [name]: value }));
    expect(error, value).toContain(message);
    expect(error).toContain(`Bad input: ${name}: `);
    expect(error).not.toContain('hunter2');
  }
});

staged.for<readonly [what: string, inputs: Inputs, message: RegExp]>([
  ['an operation-id of 100 characters, and shows 60 of them', { 'operation-id': 'x'.repeat(100) }, /“x{59}…” is not/],
  ['operation-id beside response-file', { 'response-file': 'response.json' }, /operation-id: has no effect here/],
  [
    'an expression as response-file',
    { 'operation-id': '', 'response-file': `\${{ x }}` },
    /response-file: “.*” is no value/,
  ],
  [
    'status in filter for all operations',
    { ...all, filter: 'status=x' },
    /filter: line 1, .*status cannot be used here/,
  ],
  [
    'a timeout below 30 s for all operations',
    { ...all, timeout: '29999ms' },
    /timeout: “29999ms” is too short .*expected at least 30s, or 0/,
  ],
  [
    'an unpaired surrogate in project-id',
    { ...all, 'project-id': '["\\ud800x"]' },
    /project-id: .* is not a project id: it must not be/,
  ],
  ['an empty array as project-id', { ...all, 'project-id': '[]' }, /project-id: is empty or/],
  ['an empty array as operation-id', { 'operation-id': '[ \n ]' }, /operation-id: is empty or/],
])('wait-operation rejects %s', async ([, inputs, message], { stage }) => {
  expect(errorOf(await rejectInputs(stage, 'wait-operation', inputs))).toMatch(message);
});

staged.for<readonly [what: string, inputs: Inputs, message: RegExp]>([
  ['key-id beside key-name', { 'key-id': '5', 'key-name': 'shop' }, /key-id: “5” has no effect here/],
  ['the word null as key-name', { 'key-id': '', 'key-name': 'null' }, /key-name: “.*” is no value/],
  ['a line break in key-name', { 'key-id': '', 'key-name': 'a\nb' }, /key-name: .* is not a name;/],
])('revoke-key rejects %s', async ([, inputs, message], { stage }) => {
  expect(errorOf(await rejectInputs(stage, 'revoke-key', inputs))).toMatch(message);
});

staged.for([
  ...['true', 'True', 'TRUE', ''].map((word) => [word || 'empty', 'a', word] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, 'no', word] as const),
])('if summary is %s, a step writes %s summary even if other inputs are invalid', async ([, , summary], { stage }) => {
  const rejected = await rejectInputs(stage, 'list-keys', { summary, limit: 'x' });
  const listed = await stage.runMode('list-keys', { summary });
  expect(listed.conclusion).toBe('success');
  expect([rejected, listed].map((step) => step.summary === '')).toEqual(Array(2).fill(/false/i.test(summary)));
});

staged('the error of an empty api-key says that forks and Dependabot see no secrets', async ({ stage }) => {
  const result = await rejectInputs(stage, 'list-keys', { 'api-key': '' });
  expect(errorOf(result)).toMatch(
    /^Bad input: api-key: is empty.*secrets\.NAME.*CTL_API_KEY.*Forks and Dependabot see no secrets.*“secrets\.”/,
  );
  expect(result.masks).toEqual([]);
});

staged.for([
  ['input api-key', { 'api-key': ' timeout ' }, {}],
  ['environment', { 'api-key': '' }, { CTL_API_KEY: ' timeout ' }],
] as const)(
  'a step rejects an API key of 7 characters from the %s, and does not mask it',
  async ([, inputs, env], { stage }) => {
    const result = await rejectInputs(stage, 'list-keys', { ...inputs, timeout: 'soon' }, { env });
    expect(errorOf(result)).toMatch(/^Bad input: api-key: is not usable; expected at least 8 characters, /m);
    expect(errorOf(result)).toMatch(/^Bad input: timeout: “soon”/m);
    expect(result.masks).toEqual([]);
  },
);

test('CTL_API_KEY and CTL_BASE_URL are used only if the inputs api-key and base-url are empty', async (context) => {
  // This key has the minimum length. The step masks it, and rejects any shorter key.
  const stage = await setStage(context, { apiKey: 'eight-ch' });
  const { apiKey, baseUrl } = stage.service;
  const none = { 'api-key': undefined, 'base-url': undefined };
  const env = { CTL_API_KEY: ` ${apiKey}\n`, CTL_BASE_URL: ` ${baseUrl}\n` };
  const fromEnvironment = await stage.runMode('list-keys', none, { env });
  const others = { CTL_API_KEY: 'another-key', CTL_BASE_URL: 'http://unencrypted.test' };
  const fromInputs = await stage.runMode('list-keys', {}, { env: others });
  for (const result of [fromEnvironment, fromInputs]) {
    expect(result.conclusion).toBe('success');
    expect(result.masks).toEqual([apiKey]);
    expect(result.stdout).toMatch(/^::add-mask::/);
  }
});

staged('a step rejects a base-url or CTL_BASE_URL that contains the API key', async ({ stage }) => {
  const url = `https://host/${stage.service.apiKey}/v2`;
  for (const [given, CTL_BASE_URL] of [
    [url, ''],
    ['', url],
    ['https://host/v2', url],
  ]) {
    const result = await rejectInputs(stage, 'list-keys', { 'base-url': given }, { env: { CTL_BASE_URL } });
    expect(errorOf(result)).toContain('Bad input: base-url: contains the API key; expected a URL without it');
  }
});

test('a step accepts plain http in base-url only for localhost, 127.0.0.0/8 and ::1', async (context) => {
  const stage = await setStage(context, { oneJob: true, respond: () => '[]' });
  for (const host of ['localhost.example', '127.0.0.1.example', '[::2]', '126.255.255.255', '128.0.0.1']) {
    const rejected = await rejectInputs(stage, 'list-keys', { 'base-url': `http://${host}/v2` });
    expect(errorOf(rejected), host).toContain('would send the API key unencrypted to ');
  }
  for (const host of ['LOCALHOST:8080', '127.0.0.0', '127.255.255.254', '[0:0:0:0:0:0:0:1]:3000'])
    expect((await stage.runMode('list-keys', { 'base-url': `http://${host}/v2` })).conclusion, host).toBe('success');
});

test('operation-id accepts ids separated by commas, blanks or line ends, or in a JSON array', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  const ids = [1, 2, 3].map(() => stage.operation(ended).id);
  const twice = [...ids, ...ids.map((one) => one.toUpperCase())];
  for (const text of [
    ...[',', ' ', '\r\n', ' ,\n\t'].map((separator) => twice.join(separator)),
    ...[JSON.stringify(ids), JSON.stringify(twice, undefined, 2)],
  ]) {
    const { outputs } = await stage.run({ 'operation-id': text });
    expect(outputs, text).toMatchObject({ status: 'finished', count: '3', 'operation-ids': JSON.stringify(ids) });
  }
});

async function projectsRead(context: TestContext, mode: Mode, project: string): Promise<string[]> {
  const stage = await setStage(context, { respond: () => '{"operations":[]}' });
  const wait = mode === 'wait-operation' ? { ...all, timeout: '0' } : {};
  const result = await stage.runMode(mode, { 'project-id': project, ...wait });
  expect(result.conclusion).toBe('success');
  return [...new Set(stage.paths().map((path) => decodeURIComponent(path.split('/')[1] ?? '')))];
}

test('project-id accepts any text without slashes and control characters, also in a JSON array', async (context) => {
  for (const text of ['a?b#c%d', '...', 'Ä', '%2F', '007']) {
    expect(await projectsRead(context, 'list-operations', text)).toEqual([text]);
    expect(await projectsRead(context, 'wait-operation', JSON.stringify([text]))).toEqual([text]);
  }
});

test('wait-operation with operation-id: all accepts 100 projects, but not 101', async (context) => {
  const ids = Array.from({ length: 101 }, (_, index) => `p-${index}`);
  const stage = await setStage(context);
  const rejected = await rejectInputs(stage, 'wait-operation', { ...all, 'project-id': ids.join(' ') });
  expect(errorOf(rejected)).toContain('lists 101 ids; expected at most 100');
  for (const text of ['a ,\tb,a', '["a","b","a"]'])
    expect(await projectsRead(context, 'wait-operation', text), text).toEqual(['a', 'b']);
  expect(await projectsRead(context, 'wait-operation', ids.slice(1).join(' '))).toHaveLength(100);
});

const common = ['mode', 'api-key', 'base-url', 'timeout', 'summary', 'github-token'];
const ofList = ['filter', 'limit', 'fail-on'];
const ofSending = ['request', 'body', 'body-file', 'fail-on', 'poll-interval', 'fail-fast'];
const ofWait = ['response-file', 'filter', 'since', 'fail-on', 'poll-interval', 'fail-fast'];
/** Section 1 of the contract. */
const inputsOf: Readonly<Record<Mode, readonly string[]>> = {
  'wait-operation': ['project-id', 'operation-id', ...ofWait],
  'send-request': ofSending,
  'list-operations': ['project-id', 'since', ...ofList],
  'list-projects': ['max-batches', 'org-id', ...ofList],
  'create-key': ['revoke-in-post', 'on-revoke-failure'],
  'list-keys': ['older-than', ...ofList],
  'revoke-key': ['key-id', 'key-name', 'ignore-not-found'],
  'sweep-keys': ['older-than', 'dry-run', 'fail-on'],
};

/** What the mode requires, with a project and an operation of the stage. */
function ownInputs(stage: Stage, mode: Mode): Inputs {
  const request = `POST /projects/${stage.projectId}/branches`;
  const existing: Inputs = { request, 'project-id': stage.projectId, 'operation-id': stage.operation(ended).id };
  const required = Object.entries(requiredInputs[mode]);
  const own = Object.fromEntries(required.map(([name, value]) => [name, existing[name] ?? value]));
  return mode === 'revoke-key' ? { ...own, 'ignore-not-found': 'true' } : own;
}

staged.for(modes)(
  '%s rejects inputs of other modes, unless they have their default values',
  async (mode, { stage }) => {
    const standard = loadManifest().inputs;
    const unused = [...standard.keys()].filter((name) => ![...common, ...inputsOf[mode]].includes(name));
    const own = { ...ownInputs(stage, mode), 'github-token': 'ghs_another' };
    const inputsWith = (give: (name: string) => string | undefined): Inputs => ({
      ...own,
      ...Object.fromEntries(unused.map((name) => [name, give(name)])),
    });
    // `hunter2` could be a part of a secret that only another mode would recognize.
    const secrets = { 'operation-id': '{"key":"hunter2"}', 'key-id': '1234567890hunter2' };
    const values: Record<string, string> = { since: '90d', ...secrets };
    const bad = inputsWith((name) => values[name] ?? (standard.get(name) === 'true' ? 'False' : 'more'));
    const rejected = await rejectInputs(stage, mode, { ...bad, timeout: 'soon' });
    const advice = 'has no effect here, because of mode or another input; expected it to be empty.';
    const expected = unused.map((name) => `Bad input: ${name}: ${name in secrets ? '' : `“${bad[name]}” `}${advice}`);
    const [first, ...lines] = errorOf(rejected).split('\n').slice(0, -1);
    expect(first).toMatch(/^Bad input: timeout: “soon” is not valid/);
    expect(lines.toSorted()).toEqual(expected.toSorted());
    expect(rejected.output + rejected.summary).not.toContain('hunter2');

    const otherCase = (text?: string) => text?.replace(/^[tf]/, (letter) => letter.toUpperCase());
    for (const good of [inputsWith((name) => otherCase(standard.get(name))), inputsWith(() => '')])
      expect((await stage.runMode(mode, good)).conclusion).toBe('success');
  },
);

staged.for<[mode: Mode, what: string, inputs: Inputs]>([
  [
    'wait-operation',
    'empty optional inputs',
    { timeout: '', summary: '', 'poll-interval': '', 'fail-fast': '', since: '' },
  ],
  [
    'wait-operation',
    'timeout: 0, fail-fast: TRUE and poll-interval: auto',
    { timeout: '0', 'fail-fast': 'TRUE', 'poll-interval': 'auto' },
  ],
  ['wait-operation', 'a poll-interval that is 1 ms shorter than timeout', { timeout: '5', 'poll-interval': '4999ms' }],
  ['wait-operation', 'a timeout of 30 s with operation-id: all', { ...all, timeout: '30s', since: '1h30m' }],
  ['wait-operation', 'a timeout of 0 with operation-id: all', { ...all, timeout: '0' }],
  ['list-operations', 'a since of 366 days and a timeout of 5 days', { since: '366d', timeout: '5d' }],
  ['list-keys', 'a timeout in seconds and an older-than in milliseconds', { timeout: '432000', 'older-than': '500ms' }],
  ['list-projects', 'max-batches: 1', { 'max-batches': '1' }],
])('%s accepts %s', async ([mode, , inputs], { stage }) => {
  const result = await stage.runMode(mode, { ...ownInputs(stage, mode), ...inputs });
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toEqual([]);
  if (inputs['timeout'] === '') expect(result.log).toContain('(timeout 10m)');
});

staged(
  'wait-operation with operation-id: all fails if filter has an undocumented field that no operation has',
  async ({ stage }) => {
    stage.operation(ended);
    const result = await stage.run({ ...all, filter: 'brnch_id!=x' });
    expect(result.outputs).toMatchObject({ status: 'error', 'idle-project-ids': '[]' });
    expect(errorOf(result)).toMatch(/^filter: no record that was read has the field “brnch_id”\./);
  },
);

/** An environment variable cannot contain a NUL character or an unpaired surrogate. */
const asVariable = (written: string) => written.replaceAll('\0', '').replace(/\p{Cs}/gu, '\uFFFD');

test.for(Object.entries(attacks))('a step prints %s in its inputs as plain text', async ([, attack], context) => {
  const odd = asVariable(attack);
  const respond = (path: string) => (path.startsWith('api_keys') ? '[]' : '{"operations":[]}');
  const stage = await setStage(context, { oneJob: true, respond });
  const names = [...loadManifest().inputs.keys()].filter((name) => !['api-key', 'github-token'].includes(name));
  const bad = Object.fromEntries(names.map((name) => [name, odd]));
  for (const mode of [...modes, odd])
    expect(defectsOf(await rejectInputs(stage, mode, { ...bad, mode }, { debug: true })), mode).toEqual([]);
});
