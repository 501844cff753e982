import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, type TestContext, test } from 'vitest';
import { attacks } from '../kit/hostile-values.js';
import { type Inputs, operationId as id, type Mode, modes, rejectInputs, requiredInputs } from '../kit/inputs.js';
import { errorOf, noticesOf, type Stage, setStage, staged, warningsOf } from '../kit/stage.js';
import { defectsOf } from '../kit/text-defects.js';
import { all, ended } from '../kit/wait.js';
import { loadManifest } from '../runner/manifest.js';

staged('the step reports all invalid inputs in one error, with what it expects', async ({ stage }) => {
  const result = await rejectInputs(stage, 'wait-operation', {
    timeout: '10 minutes',
    summary: 'yes',
    'project-id': 'a/b',
    'operation-id': 'ALL',
    'fail-on': 'match',
    'poll-interval': '1.5s',
    'fail-fast': 'nope',
  });
  expect(errorOf(result).split('\n')).toEqual([
    '7 bad inputs:',
    '- timeout: “10 minutes” is not a duration; expected whole numbers with units (ms, s, m, h, d) and without spaces, such as 10m or 1h30m. A number without a unit means seconds.',
    '- summary: “yes” is not a boolean; expected true or false.',
    '- project-id: “a/b” is not a project id: it must not be empty, “.” or “..”, or contain “/” or control characters.',
    '- operation-id: “ALL” is not an id; did you mean “all”, alone and in lower case?',
    '- fail-on: “match” is not a valid value; valid values: empty.',
    '- poll-interval: “1.5s” is not a duration; expected auto, or whole numbers with units (ms, s, m, h, d) and without spaces, such as 10m or 1h30m. A number without a unit means seconds.',
    '- fail-fast: “nope” is not a boolean; expected true or false.',
    'No request was sent.',
  ]);
  expect(result.summary).toMatch(/^### ❌/);
  expect(result.summary).toContain('10 minutes');
});

/** Each value is rejected. The error shows it, except an item of a list, and a value that contains the secret `hunter2`. */
type Row = readonly [mode: Mode, name: string, values: readonly string[], message: string];

const noBatches = 'is not a valid number of batches; expected 1 to 256';
const noBoolean = 'is not a boolean; expected true or false';
const leftover = 'looks like the output of a failed jq command or template';
const pasted = ['"a"', "'a'", '""', '`a`', '“a”', '„a“', '‘a’', '"[\\"a\\"]"'];
const alone = 'is in quotes or brackets, or has an invisible character at one end; expected the value alone';
const literal = [`\${{x}}`, '{{', '$IDS', `\${IDS}`, '$(ids)', 'steps.change.outputs.ids', 'vars.IDS'];
const unevaluated = `is no value: GitHub evaluates only expressions in “\${{ }}”`;
const notOfTheService = 'is a URL, a line NAME=value or a token of GitHub; expected an API key of the service';
const badKey = 'contains a space, a line break or another character';
const onlyIds = 'has an item that is not an id; expected only ids (extract them with jq:';
const badKeyId = 'is not a key id; expected an integer';
const noProject = 'is not a project id: it must not be empty, “.” or “..”, or contain “/”';
const login = 'must not contain a user name or password';
const several = 'lists 2 ids; expected one. Several are allowed only in wait-operation with “operation-id: all”';
const query = 'has a query or a fragment; expected only scheme, host and path';

const ofWait = 'timeout fail-fast poll-interval fail-on project-id operation-id'.split(' ');
const ofList = ['since', 'filter'];
// The end of a URL may be cut off, and the end of its password with it. The password may hold an `@`.
const urls = [`p://u:hunter2${'x'.repeat(100)}@host/x`, 'p://u:a@hunter2@host/x'];

test.for<Row>([
  ['list-keys', 'mode', [''], `is empty; valid values: ${modes.join(', ')}.`],
  ...modes.filter((mode) => mode !== 'wait-operation').map((mode): Row => [mode, 'timeout', ['0'], 'is zero']),
  ['wait-operation', 'timeout', ['24d1ms'], 'is too long; expected at most 24 days'],
  ['wait-operation', 'poll-interval', ['0'], 'is zero'],
  ['wait-operation', 'poll-interval', ['25d'], 'at most 24 days'],
  ['wait-operation', 'poll-interval', ['99ms'], 'is too short; expected auto, or at least 100ms'],
  ['list-operations', 'since', ['0s'], 'is zero'],
  ['list-operations', 'since', ['366d1ms'], 'at most 366 days'],
  ['sweep-keys', 'older-than', ['0'], 'is zero'],
  ['sweep-keys', 'older-than', ['367d'], 'at most 366 days'],
  ['list-keys', 'older-than', ['0', 'old'], 'expected'],
  ['sweep-keys', 'dry-run', ['maybe', '1', 'tRUE'], noBoolean],
  ['create-key', 'revoke-in-post', ['never'], noBoolean],
  ['revoke-key', 'ignore-not-found', ['never', '1'], noBoolean],
  ['sweep-keys', 'fail-on', ['empty'], 'is not a valid value; valid values: match'],
  ['create-key', 'on-revoke-failure', ['error', 'Warn'], 'is not a valid value; valid values: warn, fail'],
  ['list-keys', 'fail-on', ['empy'], 'is not a valid value; valid values: empty, match (did you mean empty?)'],
  ['list-keys', 'limit', ['-1', '1.5', '1e3', 'many', '1234567890'], 'is not a valid record count'],
  ['list-projects', 'max-batches', ['0', '257', '1.5', '-1', '0x10'], noBatches],
  ['list-projects', 'shard', ['0/3', '4/3', '3', 'a/b', '1/0', '1/2/3'], 'is not a valid shard'],
  ['wait-operation', 'operation-id', ['null', 'undefined', 'None'], leftover],
  ['wait-operation', 'operation-id', [id.slice(1), `${id}1`, id.replaceAll('-', '')], 'expected a UUID'],
  ['wait-operation', 'operation-id', [id.replace('a', 'g'), `(${id})`, `${id}/..`], 'expected a UUID'],
  ['list-operations', 'project-id', ['null', 'undefined', 'None'], leftover],
  ['list-operations', 'project-id', ['.', '..', 'a/b', '/', 'a\u0001b', 'a\u0085b'], noProject],
  ['list-operations', 'project-id', [''], 'is empty; expected a project id. Check the expression'],
  ['list-operations', 'project-id', ['[]'], 'is an empty list; expected a project id'],
  ['list-operations', 'project-id', ['a,b'], several],
  ['wait-operation', 'project-id', ['a b', '["a","b"]'], several],
  ['list-projects', 'org-id', ['null', 'undefined', 'None'], leftover],
  ['list-projects', 'org-id', ['.', '..', 'a/b', 'a\u0001b'], 'is not an organization id: it must not be'],
  ['list-projects', 'org-id', ['[]'], 'is an empty list; expected an organization id'],
  ['list-projects', 'org-id', ['a,b', '["a","b"]'], 'lists 2 ids; expected one'],
  ['list-operations', 'project-id', ['[null]'], `“null” ${leftover}`],
  ['list-operations', 'project-id', ['Array'], 'put “toJSON(…)” around it'],
  ['list-operations', 'project-id', ['Object'], 'name the field that holds the value, such as “matrix.project.id”'],
  ['list-operations', 'project-id', pasted, alone],
  ['list-projects', 'org-id', pasted, alone],
  ['list-operations', 'project-id', literal, unevaluated],
  ['wait-operation', 'operation-id', literal, unevaluated],
  ['list-keys', 'base-url', ['$CTL_BASE_URL', 'vars.CTL_BASE_URL'], unevaluated],
  ['list-keys', 'api-key', ['secrets.hunter2', '$hunter2hunter2'], unevaluated],
  ['wait-operation', 'operation-id', pasted, alone],
  ['list-keys', 'base-url', [''], 'is empty; expected the URL of the control API'],
  ['list-keys', 'base-url', ['//host.example/v2', 'https://', 'https://host:99999/v2', 'word'], 'is not a URL'],
  ['list-keys', 'base-url', ['https:///a', 'https:/a', 'https:a', 'https://\\a', 'https:\\\\a'], 'has no host'],
  ['list-keys', 'base-url', ['api-key-hunter2hunter2'], '“***” is not a URL'],
  ['list-keys', 'base-url', ['ftp://host/v2', 'file:///etc/passwd', 'javascript:alert(1)'], 'expected https'],
  ['list-keys', 'base-url', ['localhost:8080/v2', 'host.example:443/v2'], 'has no scheme or an unsupported one'],
  ['list-keys', 'base-url', ['https://user:hunter2@host.example/v2', 'https://hunter2@host.example/v2'], login],
  ['list-keys', 'base-url', ['https://:hunter2@host/v2', 'https://user:hun@hunter2@host/v2'], login],
  ['list-keys', 'base-url', ['https:user:hunter2@host/v2', 'https:/user:hunter2@host/v2'], login],
  ['list-keys', 'base-url', ['https:\\\\user:hunter2@host/v2', 'http://user:hunter2@[::1]/v2'], login],
  ['list-keys', 'base-url', ['https://user:hunter2?@host/v2', 'https://user:a/hunter2@host/v2'], 'is not a URL'],
  ['list-keys', 'base-url', ['user:hunter2@host/v2'], 'expected https'],
  ['list-keys', 'base-url', ['https://user:hunter2', 'https://user:hunter2/v2'], '“https://user:***” is not a URL'],
  ['list-keys', 'base-url', ['https://user:hunter2%40host/v2', 'https://u:hunter2＠host'], '“https://***@'],
  ['list-keys', 'base-url', ['https://u:a hunter2@host/v2'], '“https://***@'],
  ['list-keys', 'base-url', ['https://host/v2\nhttps://other/v2'], 'is not a URL'],
  ['list-keys', 'base-url', ['https://host/v2?key=hunter2', 'https://host/v2#hunter2'], query],
  ['list-keys', 'api-key', ['hunter2 x', 'hunter2-\nhunter2+', 'hunter2ï', 'hunter2\u200B', 'hunter2\u0001'], badKey],
  ['list-keys', 'api-key', ['"hunter2"', '[hunter2]', '`hunter2`'], alone],
  ['list-keys', 'api-key', ['https://hunter2/v2', 'KEY=hunter2', 'ghs_hunter2', 'github_pat_hunter2'], notOfTheService],
  ['wait-operation', 'operation-id', ['{"operation":{"id":"hunter2"}}', '{ "hunter2'], 'is a JSON object. '],
  ['wait-operation', 'operation-id', ['"{\\"uri\\":\\"p://u:hunter2@host\\"}"'], 'set response-file to its path'],
  ['wait-operation', 'operation-id', ['["hunter2"', '[hunter2]', `["${id}"] hunter2`], 'is not a valid JSON array'],
  ['wait-operation', 'operation-id', ['[{"id":"hunter2"}]'], `${onlyIds} .operations[].id)`],
  ['wait-operation', 'operation-id', [`["${id}",["hunter2"]]`], `${onlyIds} .operations[].id)`],
  ['wait-operation', 'operation-id', [`${id} not-an-id ${id}`], 'item 2: “not-an-id” is not'],
  ['wait-operation', 'operation-id', [`["${id}","null"]`], `item 2: “null” ${leftover}`],
  ['wait-operation', 'operation-id', [`${id},`, `,${id}`, `${id}, ,${id}`], 'has a comma without an id'],
  ['wait-operation', 'operation-id', [`${id},\n,${id}`, `${id},\n${id},`], 'has a comma without an id'],
  ['wait-operation', 'operation-id', [`${id},all`], 'item 2: “all” is not an operation id; expected a UUID, such as'],
  ['wait-operation', 'operation-id', ['All', '["all"]', '[all]'], 'did you mean “all”, alone and in lower case?'],
  ['list-operations', 'project-id', ['["p-1",""]', '["p-1"," "]'], 'item 2: “” is not a project id: it must not be'],
  ['list-operations', 'project-id', ['{"projects":"hunter2"}'], 'is a JSON object. Expected a project id'],
  ['revoke-key', 'key-id', ['null', 'undefined', 'None'], leftover],
  ['revoke-key', 'key-id', ['shop', '-5', '0x10', '٣', '5/../6', '12345678901234x'], badKeyId],
  // A value of 16 characters may be the key itself.
  ['revoke-key', 'key-id', ['123456789hunter2'], badKeyId],
  ['revoke-key', 'key-id', [''], 'is empty; expected one or more key ids (or set the input key-name instead). Check'],
  ['sweep-keys', 'github-token', ['hunter2\nx', 'hunter2 x', 'hünter-hunter2'], 'contains a space, a line break or'],
  ['revoke-key', 'key-id', ['5,undefined'], `item 2: “undefined” ${leftover}`],
  // What jq before 1.7 makes of an id beyond 2^53 is the id of another key.
  ['revoke-key', 'key-id', ['[9.007199254740993e15]', '[1e23]', '[9007199254740993]'], onlyIds],
  ['revoke-key', 'key-id', ['[1e3]', '[10.0]', '[5,-0]'], onlyIds],
  ['revoke-key', 'key-id', ['{"key":"hunter2","id":5}', '{\n"id":5,"key":"hunter2"}'], 'is a JSON object. '],
  ['revoke-key', 'key-id', ['[{"key":"hunter2","id":5}]'], `${onlyIds} .[].id)`],
  ...ofWait.map((name): Row => ['wait-operation', name, urls, '“p://***@host/x']),
  ...ofList.map((name): Row => ['list-operations', name, urls, '“p://***@host/x']),
  ...ofList.map((name): Row => ['wait-operation', name, ['1h'], 'counts only with “operation-id: all”']),
  ['wait-operation', 'poll-interval', ['10m', '600'], 'is not shorter than timeout; expected a shorter pause, or auto'],
])('`%s` rejects %s: %j', async ([mode, name, values, message], context) => {
  const stage = await setStage(context, { oneJob: true });
  for (const value of values) {
    const isSecret = value.includes('hunter2');
    const isHidden = isSecret || value === '' || value.startsWith('[null') || /^(item|has an item)/.test(message);
    const result = await rejectInputs(stage, mode, { [name]: value });
    expect(errorOf(result), value).toContain(message);
    expect(errorOf(result)).toContain(`Bad input: ${name}: ${isHidden ? '' : `“${value.replace(/\p{Cc}/u, ' ')}” `}`);
    if (isSecret) expect(result.log + result.summary).not.toContain('hunter2');
  }
});

const emptyOperations =
  /operation-id: .*is empty.*expression is empty.*step was skipped.*“all” for every unfinished operation.*response-file/;

const inFile = (path: string): Inputs => ({ 'operation-id': '', 'response-file': path });
const keyNamed = (name: string): Inputs => ({ 'key-id': '', 'key-name': name });
const oddNames = [...pasted, '[a]', '{"a":1}', 'a\u200B', '\u2060a'];
const badMode = /^2 bad inputs:\n- mode: “list-key” .*\(did you mean list-keys\?\)\.\n- timeout: “soon”/;
const badFilter = /^- filter: line 2, .*status cannot be used here/m;
staged.for<readonly [mode: string, inputs: Inputs, ...messages: RegExp[]]>([
  ['list-key', { timeout: 'soon', since: '90d', 'dry-run': 'true' }, badMode],
  ['list-keys', { 'base-url': 'https://host/v2?' }, /query or a fragment/],
  ['wait-operation', { 'operation-id': '' }, emptyOperations],
  ['wait-operation', { 'operation-id': ' ,,\n' }, emptyOperations],
  ['wait-operation', { 'operation-id': 'x'.repeat(100) }, /“x{59}…” is not/],
  ['wait-operation', { 'response-file': 'response.json' }, /operation-id: is set together with response-file/],
  ['wait-operation', { ...inFile('a'), 'project-id': 'a,b' }, /project-id: .*expected one/],
  ['wait-operation', inFile('$RUNNER_TEMP/a.json'), /response-file: “.*” is no value/],
  ['wait-operation', inFile('steps.a.outputs.file'), /response-file: “.*” is no value/],
  ['wait-operation', { 'project-id': '["\\ud800x"]' }, /project-id: .* is not a project id: it must not be/],
  ['wait-operation', { ...all, filter: 'id=x\nstatus=x', since: 'x' }, badFilter, /^- since: “x”/m],
  ...['failures_count', 'updated_at'].map((field) => {
    return ['wait-operation', { ...all, filter: `${field}=1` }, new RegExp(`${field} cannot be used here`)] as const;
  }),
  ['wait-operation', { ...all, timeout: '29999ms' }, /timeout: “29999ms” is too short .*expected at least 30s, or 0/],
  ['revoke-key', { 'key-id': '5', 'key-name': 'shop' }, /key-id: .*key-name/],
  ['revoke-key', keyNamed('null'), /key-name: “null” .*failed jq/],
  ['revoke-key', keyNamed('a\nb'), /key-name: .* is not a name;/],
  ...oddNames.map((name) => ['revoke-key', keyNamed(name), /key-name: .* is in quotes or brackets, or/] as const),
  ['revoke-key', keyNamed('$NAME'), /key-name: “\$NAME” is no value/],
  ['list-operations', { 'project-id': '{{ vars.P }}' }, /project-id: .*“{{” is no value/],
])('the step with mode: %s rejects the inputs %j', async ([mode, inputs, ...messages], { stage }) => {
  const error = errorOf(await rejectInputs(stage, mode, inputs));
  for (const message of messages) expect(error).toMatch(message);
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

staged('the step rejects an empty api-key, and says that forks and Dependabot get no secrets', async ({ stage }) => {
  const result = await rejectInputs(stage, 'list-keys', { 'api-key': '' });
  expect(errorOf(result)).toMatch(/^Bad input: api-key: is empty.*CTL_API_KEY.*forks and Dependabot get no secrets/);
  expect(result.masks).toEqual([]);
  expect(warningsOf(result)).toEqual([]);
});

staged.for([
  ['input', { 'api-key': ' timeout ' }, {}],
  ['environment', { 'api-key': '' }, { CTL_API_KEY: ' timeout ' }],
] as const)('an API key of 7 characters from the %s is rejected and not masked', async ([, inputs, env], { stage }) => {
  const result = await rejectInputs(stage, 'list-keys', { ...inputs, timeout: 'soon' }, { env });
  expect(errorOf(result)).toMatch(/^- api-key: has fewer than 8 characters, and masking it would hide ordinary text/m);
  expect(errorOf(result)).toMatch(/^- timeout: “soon”/m);
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

test('plain http is accepted only for localhost, 127.0.0.0/8 and ::1', async (context) => {
  const stage = await setStage(context, { oneJob: true, respond: () => '[]' });
  for (const host of [
    ...['host.example', 'localhost.example', '127.0.0.1.example', '[::2]', '[::ffff:127.0.0.1]'],
    ...['0.0.0.0', '10.0.0.1', '126.255.255.255', '128.0.0.1', '192.168.127.1'],
  ]) {
    const rejected = await rejectInputs(stage, 'list-keys', { 'base-url': `http://${host}/v2` });
    expect(errorOf(rejected), host).toContain('would send the API key unencrypted; expected https');
  }
  for (const host of ['localhost', 'LOCALHOST:8080', '127.0.0.0', '127.255.255.254', '127.1', '[0:0:0:0:0:0:0:1]:3000'])
    expect((await stage.runMode('list-keys', { 'base-url': `http://${host}/v2` })).conclusion, host).toBe('success');
});

test.for([
  ['https://host.example/api/v2', '/api/v2/api_keys', 'no', 0],
  ['https://host.example/api/v2///', '/api/v2/api_keys', 'no', 0],
  ['HTTPS://[2001:db8::1]:8443/v2/', 'api_keys', 'no', 0],
  ['https://host.example/v3', '/v3/api_keys', 'a', 1],
] as const)('with base-url %s, the step requests %s and prints %s warning', async ([url, path, , count], context) => {
  const stage = await setStage(context, { respond: () => '[]' });
  const result = await stage.runMode('list-keys', { 'base-url': url });
  expect(stage.paths()).toEqual([path]);
  const warning = expect.stringMatching(/^The path of base-url does not end in \/v2\./);
  expect(warningsOf(result)).toEqual(Array(count).fill(warning));
});

test('operation-id accepts ids separated by commas, blanks or line ends, or in a JSON array', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  const ids = [1, 2, 3].map(() => stage.operation(ended).id);
  const twice = [...ids, ...ids.map((one) => one.toUpperCase())];
  for (const text of [
    ...[',', ' ', '\n', '\r\n', '\t', ' ,\n\t'].map((separator) => twice.join(separator)),
    ...[`${ids.join(',\r\n')}\r\n`, JSON.stringify(ids), JSON.stringify(twice, undefined, 2)],
  ]) {
    const { outputs } = await stage.run({ 'operation-id': text });
    expect(outputs, text).toMatchObject({ status: 'finished', count: '3', 'operation-ids': JSON.stringify(ids) });
  }
});

staged.for(['[]', '[ \n ]'])('the step succeeds with a notice if operation-id is %j', async (text, { stage }) => {
  const result = await stage.run({ 'operation-id': text });
  const outputs = { status: 'finished', count: '0', 'operation-id': '', 'operation-ids': '[]', operations: '[]' };
  expect(result).toMatchObject({ conclusion: 'success', outputs });
  expect(noticesOf(result)).toEqual([expect.stringContaining('list of operation ids is empty')]);
  expect(stage.paths()).toEqual([]);
});

async function projectsRead(context: TestContext, mode: Mode, project: string): Promise<string[]> {
  const stage = await setStage(context, { respond: () => '{"operations":[]}' });
  const wait = mode === 'wait-operation' ? { ...all, timeout: '0' } : {};
  const result = await stage.runMode(mode, { 'project-id': project, ...wait });
  expect(result.conclusion).toBe('success');
  return [...new Set(stage.paths().map((path) => decodeURIComponent(path.split('/')[1] ?? '')))];
}

test('project-id accepts any text without slashes and control characters, also in a JSON array', async (context) => {
  for (const text of ['late-field-12345678', 'a.b', 'a?b#c%d', '...', 'Ä', '%2F', '$&', 'all', 'null-1', '007']) {
    expect(await projectsRead(context, 'list-operations', text)).toEqual([text]);
    expect(await projectsRead(context, 'wait-operation', JSON.stringify([text]))).toEqual([text]);
  }
  for (const mode of ['list-operations', 'wait-operation'] as const) {
    expect(await projectsRead(context, mode, 'p, p')).toEqual(['p']);
    expect(await projectsRead(context, mode, '[1234567890123456]')).toEqual(['1234567890123456']);
  }
});

test('a wait with operation-id: all accepts up to 100 projects', async (context) => {
  const ids = Array.from({ length: 101 }, (_, index) => `p-${index}`);
  const stage = await setStage(context);
  const rejected = await rejectInputs(stage, 'wait-operation', { ...all, 'project-id': ids.join(' ') });
  expect(errorOf(rejected)).toContain('lists 101 projects; expected at most 100');
  for (const text of ['a ,\tb,a', '["a","b","a"]'])
    expect(await projectsRead(context, 'wait-operation', text), text).toEqual(['a', 'b']);
  expect(await projectsRead(context, 'wait-operation', ids.slice(1).join(' '))).toHaveLength(100);
});

const [reference = ''] = readFileSync('docs/reference.md', 'utf8').split('<!-- end of inputs -->');
/** Each input with the modes that use it, from docs/reference.md. No mode rejects `github-token`, because it has a default. */
const documented = [...reference.matchAll(/^\| `(.+?)` \| (.+?) \|/gm)].filter(([, name]) => name !== 'github-token');

/** What the mode requires, with a project and an operation of the stage. */
function ownInputs(stage: Stage, mode: Mode): Inputs {
  const existing: Inputs = { 'project-id': stage.projectId, 'operation-id': stage.operation(ended).id };
  const required = Object.entries(requiredInputs[mode]);
  const own = Object.fromEntries(required.map(([name, value]) => [name, existing[name] ?? value]));
  return mode === 'revoke-key' ? { ...own, 'ignore-not-found': 'true' } : own;
}

staged.for(modes)('`%s` rejects inputs of other modes, unless they have their default', async (mode, { stage }) => {
  const standard = loadManifest().inputs;
  const words = ['all', mode, mode.replace(/^list-.*/, 'list-*')];
  const isUsed = (users: string) => users.split(/(?: `all`)?(?:, |$)/).some((user) => words.includes(user));
  const unused = documented.flatMap(([, name = '', users = '']) => (isUsed(users) ? [] : name));
  expect(unused.length).toBeGreaterThan(5);
  const own = ownInputs(stage, mode);
  const inputsWith = (givenValue: (name: string) => string | undefined, token: string): Inputs => {
    const given = Object.fromEntries(unused.map((name) => [name, givenValue(name)]));
    return { ...own, ...given, 'github-token': token };
  };
  // Only a sweep reads the token, so only a sweep could reject this one.
  const token = mode === 'sweep-keys' ? 'ghs_another' : stage.service.apiKey;
  // `hunter2` could be a part of a secret that only another mode would recognize.
  const secrets = { 'operation-id': '{"key":"hunter2"}', 'key-id': '1234567890hunter2' };
  const values: Record<string, string> = { since: '90d', ...secrets };
  const bad = inputsWith((name) => values[name] ?? (standard.get(name) === 'true' ? 'False' : 'more'), token);
  const rejected = await rejectInputs(stage, mode, { ...bad, timeout: 'soon' });
  const lines = errorOf(rejected).split('\n').slice(1, -1);
  const shown = (name: string) => (name in secrets ? '' : `“${bad[name]}” `);
  const advice = `has no effect in ${mode}; expected it to be empty. Remove it, or check the value of mode.`;
  const expected = unused.map((name) => `- ${name}: ${shown(name)}${advice}`);
  expect(lines[0]).toMatch(/^- timeout: “soon” is not a duration/);
  expect(lines.slice(1).toSorted()).toEqual(expected.toSorted());
  expect(rejected.output + rejected.summary).not.toContain('hunter2');

  const otherCase = (text?: string) => text?.replace(/^[tf]/, (letter) => letter.toUpperCase());
  for (const good of [
    inputsWith((name) => standard.get(name), 'ghs_another'),
    inputsWith((name) => otherCase(standard.get(name)), token),
    inputsWith((name) => otherCase(standard.get(name))?.replace(/^(True|False)$/, (word) => word.toUpperCase()), token),
    inputsWith(() => '', ''),
  ]) {
    const result = await stage.runMode(mode, good);
    expect(result.conclusion).toBe('success');
    expect(warningsOf(result)).toEqual([]);
  }
});

const seconds = (text: string) =>
  `${text} without a unit means ${text} seconds. If you mean hours or days, write ${text}h or ${text}d.`;
const misspelled = expect.stringMatching(/“create_brnch” .* \(did you mean create_branch\?\)/);
const milliseconds = 'timeout: 21601 without a unit means 6h. If you mean milliseconds, write 21601ms.';
staged.for<[mode: Mode, inputs: Inputs, warnings: string[]]>([
  ['wait-operation', { ...all, filter: 'action=create_brnch' }, [misspelled]],
  ['wait-operation', { timeout: '', summary: '', 'poll-interval': '', 'fail-fast': '' }, []],
  ['wait-operation', { timeout: '0s', 'fail-fast': 'false', 'poll-interval': '1s' }, []],
  ['wait-operation', { timeout: '0', 'fail-fast': 'True', 'poll-interval': 'auto' }, []],
  ['wait-operation', { timeout: '5s', 'poll-interval': '4999ms' }, []],
  ['wait-operation', { timeout: '1s', since: '', filter: '' }, []],
  ['wait-operation', { ...all, timeout: '30s' }, []],
  ['wait-operation', { ...all, timeout: '0' }, []],
  ['list-keys', { timeout: '21600' }, []],
  ['list-keys', { timeout: '21601' }, [milliseconds]],
  ['list-operations', { since: '24' }, [`since: ${seconds('24')}`]],
  ['list-operations', { since: '366' }, [`since: ${seconds('366')}`]],
  ['list-operations', { since: '367' }, []],
  ['list-keys', { 'older-than': '90' }, [`older-than: ${seconds('90')}`]],
  ['sweep-keys', { 'older-than': '35' }, [`older-than: ${seconds('35')}`]],
  ['list-operations', { since: '366d', timeout: '24d' }, []],
  ['sweep-keys', { 'older-than': '366d' }, []],
])('`%s` accepts the inputs %j with the warnings %j', async ([mode, inputs, warnings], { stage }) => {
  const result = await stage.runMode(mode, { ...ownInputs(stage, mode), ...inputs });
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toEqual(warnings);
  if (inputs['timeout'] === '') expect(result.log).toContain('(timeout 10m)');
});

staged('a wait that polls once rejects invalid inputs, too', async ({ stage }) => {
  const inputs = { ...all, timeout: '0', filter: 'acton=x', since: 'x', 'fail-fast': 'x', 'poll-interval': '99ms' };
  const error = errorOf(await rejectInputs(stage, 'wait-operation', inputs));
  const says = ['- filter: line 1, ', '- since: “x” is n', '- poll-interval: “99ms” i', '- fail-fast: “x” is n'];
  expect(error.match(/^- [a-z-]+: .{8}/gm)).toEqual(says);
});

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
  const filter = `name=x\n${odd.replaceAll('=', '-')}`;
  const rejected = await rejectInputs(stage, 'list-keys', { filter }, { debug: true });
  expect(defectsOf(rejected)).toEqual([]);
  expect(errorOf(rejected)).toMatch(/line \d+, “.{0,80}”( \(with invisible characters\))?: /);

  const project = `x${odd.replace(/[/\p{Cc}\s,]/gu, '-')}x`;
  // Text after = could begin a second condition, a comma or a bar an “or”, and # after a space a comment.
  const pattern = odd
    .replace(/[\n\r=,|]/g, ' ')
    .replace(/\s#/g, '-#')
    .slice(0, 200);
  for (const inputs of [
    { mode: 'wait-operation', 'project-id': project, ...all, filter: `branch_id=x${pattern}x` },
    { mode: 'list-operations', 'project-id': project, filter: `branch_id!=x${pattern}x` },
    { mode: 'revoke-key', 'key-name': `x${odd.replace(/\p{Cc}/gu, ' ')}x`, 'ignore-not-found': 'true' },
  ]) {
    const result = await stage.runMode(inputs.mode, inputs, { debug: true });
    expect(defectsOf(result), inputs.mode).toEqual([]);
    expect(result.conclusion, inputs.mode).toBe('success');
  }
});

test('the step never shows its API key, whatever characters it has', async (context) => {
  const stage = await setStage(context, { oneJob: true, respond: () => '[]' });
  const secret = fc.string({ unit: 'binary-ascii', minLength: 12, maxLength: 40 });
  const property = fc.asyncProperty(secret, async (written) => {
    const key = asVariable(written).trim();
    fc.pre(key.length >= 8);
    const inputs = { 'api-key': key, 'project-id': `x${key}` };
    const { lines, summary } = await stage.runMode('list-keys', inputs, { debug: true });
    const shown = lines.map((line) => line.text).filter((line) => !line.startsWith('::add-mask::'));
    expect([...shown, summary].filter((line) => line.includes(key))).toEqual([]);
  });
  await fc.assert(property, { numRuns: 40 });
});
