import { expect, type TestContext, test } from 'vitest';
import { attacks } from '../kit/hostile-values.js';
import { type Inputs, operationId as id, type Mode, modes, rejectInputs, requiredInputs } from '../kit/inputs.js';
import { errorOf, type Stage, setStage, staged, warningsOf } from '../kit/stage.js';
import { defectsOf } from '../kit/text-defects.js';
import { all, ended } from '../kit/wait.js';
import { loadManifest } from '../runner/environment.js';

staged('the step reports all invalid inputs in one error, with what it expects', async ({ stage }) => {
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
  ['with:', { failon: 'empty' }, {}, 'failon'],
  ['env:', {}, { INPUT_API_KEY: 'hunter2' }, 'api_key'],
])('an input that the action does not have is an error, from %s', async ([, inputs, env, name], { stage }) => {
  const result = await rejectInputs(stage, 'list-keys', inputs, { env });
  const says = `^Bad input: ${name}: is not an input; valid inputs: .* filter, .*env:.* INPUT_${name.toUpperCase()}`;
  expect(errorOf(result)).toMatch(new RegExp(says));
  expect(result.output + result.summary).not.toContain('hunter2');
});

staged('an unknown input is named beside an invalid mode, and one that is empty is not set', async ({ stage }) => {
  const error = errorOf(await rejectInputs(stage, 'list-key', { failon: 'empty' }));
  expect(error).toMatch(/^Bad input: mode: “list-key” is not a valid value; .* wait-operation, .*, sweep-keys\.$/m);
  expect(error).toMatch(/^Bad input: failon: is not an input;/m);
  expect((await stage.runMode('list-keys', { failon: ' ' })).conclusion).toBe('success');
});

/** Each value is rejected, and no error shows the secret hunter2. */
type Row = readonly [mode: Mode, name: string, values: readonly string[], message: string];

const noBoolean = 'is not a boolean; expected true or false';
const noBatches = 'is not a number of batches; expected 1 to 256';
const leftover = ['null', 'undefined', `\${{ x }}`, `a\${{`];
const noValue = 'is no value. Check the expression or the step';
const empty = 'Check the expression: it is empty if a step id, an output or a variable is misspelled';
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
const quoted = ['timeout', 'fail-fast', 'poll-interval', 'fail-on'];

test.for<Row>([
  ['list-keys', 'mode', [''], `is empty; valid values: ${modes.join(', ')}.`],
  ...modes.filter((mode) => mode !== 'wait-operation').map((mode): Row => [mode, 'timeout', ['0', '5d1ms'], aDuration]),
  ['wait-operation', 'timeout', ['5d1ms'], 'is not valid; expected a duration from 0ms to 5d'],
  ['wait-operation', 'poll-interval', ['0', '99ms'], 'is not valid; expected auto or a duration from 100ms to 5d'],
  ['wait-operation', 'poll-interval', ['10m', '600'], 'is not shorter than timeout; expected a shorter pause, or auto'],
  ['list-operations', 'since', ['0s', '24', '366d1ms'], anAge],
  ['list-keys', 'older-than', ['90', 'old'], anAge],
  ...booleans.map(([mode, name]): Row => [mode, name, ['yes', 'tRUE'], noBoolean]),
  ['sweep-keys', 'fail-on', ['empty'], 'is not a valid value; valid values: match'],
  ['list-keys', 'fail-on', ['Match'], 'is not a valid value; valid values: empty, match.'],
  ['create-key', 'on-revoke-failure', ['error', 'Warn'], 'is not a valid value; valid values: warn, fail'],
  ['list-keys', 'limit', ['-1', '1.5', 'many'], 'is not a number of records'],
  ['list-projects', 'max-batches', ['0', '257', '1.5'], noBatches],
  ['list-operations', 'project-id', leftover.slice(0, 2), noValue],
  ['wait-operation', 'operation-id', leftover.slice(0, 2), noValue],
  ['revoke-key', 'key-id', leftover.slice(0, 2), noValue],
  ['list-keys', 'base-url', leftover, noValue],
  ['list-operations', 'project-id', [''], `is empty or has an empty id; expected a project id. ${empty}`],
  ['wait-operation', 'operation-id', [''], `, or response-file in its place. ${empty}`],
  ['revoke-key', 'key-id', [''], `is empty or has an empty id; expected key ids, or the input key-name. ${empty}`],
  ['list-keys', 'base-url', [''], 'is empty; expected the URL of the control API, in this input or in the environment'],
  ['list-operations', 'project-id', ['.', '..', 'a/b', 'a\u0001b', 'a\u0085b'], noProject],
  ['wait-operation', 'project-id', ['a b', '["a","b"]'], several],
  ['wait-operation', 'operation-id', [id.slice(1), `${id}1`, `(${id})`, id.replaceAll('-', '')], 'expected a UUID'],
  ['wait-operation', 'operation-id', [`["${id}","null"]`, `["${id}",null]`], `“null” ${noValue}`],
  ['wait-operation', 'operation-id', [`${id},`, `${id}, ,${id}`], 'is empty or has an empty id'],
  ['wait-operation', 'operation-id', ['{"operation":{"id":"hunter2"}}', '["hunter2"', '[{"id":"hunter2"}]'], noList],
  ['revoke-key', 'key-id', ['shop', '-5', '0x10', '٣', '5/../6'], badKeyId],
  // A rounded id would be that of another key.
  ['revoke-key', 'key-id', ['[9007199254740993]', '[1.5]'], noList],
  [
    'list-keys',
    'base-url',
    ['//host/v2', 'word', 'ftp://h', 'https://user:hunter2@host/v2', 'u:hunter2@host'],
    unusable,
  ],
  ['list-keys', 'base-url', ['https://host/v2?key=hunter2', 'https://host/v2#hunter2'], unusable],
  ['list-keys', 'api-key', ['hunter2 x', 'hunter2-\nhunter2+', 'hunter2ï', 'hunter2\u200B', 'hunter2\u0001'], badKey],
  ['list-keys', 'api-key', ['undefined'], noValue],
  ['sweep-keys', 'github-token', ['', 'hunter2\nx', 'hunter2 x', 'hünter-hunter2'], badKey],
  ...quoted.map((name): Row => ['wait-operation', name, urls, 'expected|valid values']),
  ['wait-operation', 'since', ['1h'], 'has no effect here, because of mode or another input'],
])('`%s` rejects %s: %j', async ([mode, name, values, message], context) => {
  const stage = await setStage(context, { oneJob: true });
  for (const value of values) {
    const error = errorOf(await rejectInputs(stage, mode, { [name]: value }));
    expect(error, value).toContain(message === 'expected|valid values' ? '“***” is not' : message);
    expect(error).toContain(`Bad input: ${name}: `);
    expect(error).not.toContain('hunter2');
  }
});

const keyNamed = (name: string): Inputs => ({ 'key-id': '', 'key-name': name });
staged.for<readonly [mode: string, inputs: Inputs, message: RegExp]>([
  ['wait-operation', { 'operation-id': 'x'.repeat(100) }, /“x{59}…” is not/],
  ['wait-operation', { 'response-file': 'response.json' }, /operation-id: has no effect here/],
  ['wait-operation', { 'operation-id': '', 'response-file': `\${{ x }}` }, /response-file: “.*” is no value/],
  ['wait-operation', { ...all, filter: 'status=x' }, /filter: line 1, .*status cannot be used here/],
  ['wait-operation', { ...all, timeout: '29999ms' }, /timeout: “29999ms” is too short .*expected at least 30s, or 0/],
  ['wait-operation', { ...all, 'project-id': '["\\ud800x"]' }, /project-id: .* is not a project id: it must not be/],
  ['revoke-key', { 'key-id': '5', 'key-name': 'shop' }, /key-id: “5” has no effect here/],
  ['revoke-key', keyNamed('null'), /key-name: “.*” is no value/],
  ['revoke-key', keyNamed('a\nb'), /key-name: .* is not a name;/],
  ['wait-operation', { ...all, 'project-id': '[]' }, /project-id: is empty or/],
  ['wait-operation', { 'operation-id': '[ \n ]' }, /operation-id: is empty or/],
])('the step with mode: %s rejects the inputs %j', async ([mode, inputs, message], { stage }) => {
  expect(errorOf(await rejectInputs(stage, mode, inputs))).toMatch(message);
});

staged.for([
  ...['true', 'True', 'TRUE', ''].map((word) => [word, 'a'] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, 'no'] as const),
])('with summary: “%s”, the step writes %s summary, even if another input is invalid', async ([summary], { stage }) => {
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
  ['input', { 'api-key': ' timeout ' }, {}],
  ['environment', { 'api-key': '' }, { CTL_API_KEY: ' timeout ' }],
] as const)('an API key of 7 characters from the %s is rejected and not masked', async ([, inputs, env], { stage }) => {
  const result = await rejectInputs(stage, 'list-keys', { ...inputs, timeout: 'soon' }, { env });
  expect(errorOf(result)).toMatch(/^Bad input: api-key: is not usable; expected at least 8 characters, /m);
  expect(errorOf(result)).toMatch(/^Bad input: timeout: “soon”/m);
  expect(result.masks).toEqual([]);
});

test('api-key and base-url come from the environment only if the inputs are empty', async (context) => {
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

staged('neither base-url nor CTL_BASE_URL may contain the key', async ({ stage }) => {
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

test('plain http is accepted only for localhost, 127.0.0.0/8 and ::1', async (context) => {
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

test('a wait with operation-id: all accepts up to 100 projects', async (context) => {
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

staged.for(modes)('`%s` rejects inputs of other modes, unless they have their default', async (mode, { stage }) => {
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
});

staged.for<[mode: Mode, inputs: Inputs]>([
  ['wait-operation', { timeout: '', summary: '', 'poll-interval': '', 'fail-fast': '', since: '' }],
  ['wait-operation', { timeout: '0', 'fail-fast': 'TRUE', 'poll-interval': 'auto' }],
  ['wait-operation', { timeout: '5', 'poll-interval': '4999ms' }],
  ['wait-operation', { ...all, timeout: '30s', since: '1h30m' }],
  ['wait-operation', { ...all, timeout: '0' }],
  ['list-operations', { since: '366d', timeout: '5d' }],
  ['list-keys', { timeout: '432000', 'older-than': '500ms' }],
  ['list-projects', { 'max-batches': '1' }],
])('`%s` accepts the inputs %j', async ([mode, inputs], { stage }) => {
  const result = await stage.runMode(mode, { ...ownInputs(stage, mode), ...inputs });
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toEqual([]);
  if (inputs['timeout'] === '') expect(result.log).toContain('(timeout 10m)');
});

staged(
  'a wait for all fails on an undocumented field that no operation has, and calls no project idle',
  async ({ stage }) => {
    stage.operation(ended);
    const result = await stage.run({ ...all, filter: 'brnch_id!=x' });
    expect(result.outputs).toMatchObject({ status: 'error', 'idle-project-ids': '[]' });
    expect(errorOf(result)).toMatch(/^filter: no record that was read has the field “brnch_id”\./);
  },
);

/** An environment variable cannot contain a NUL character or an unpaired surrogate. */
const asVariable = (written: string) => written.replaceAll('\0', '').replace(/\p{Cs}/gu, '\uFFFD');

test.for(Object.entries(attacks))('the step prints %s in inputs as text', async ([, attack], context) => {
  const odd = asVariable(attack);
  const respond = (path: string) => (path.startsWith('api_keys') ? '[]' : '{"operations":[]}');
  const stage = await setStage(context, { oneJob: true, respond });
  const names = [...loadManifest().inputs.keys()].filter((name) => !['api-key', 'github-token'].includes(name));
  const bad = Object.fromEntries(names.map((name) => [name, odd]));
  for (const mode of [...modes, odd])
    expect(defectsOf(await rejectInputs(stage, mode, { ...bad, mode }, { debug: true })), mode).toEqual([]);
});
