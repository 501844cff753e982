import { expect, test } from 'vitest';
import type { Fault, RunningControlPlane } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { reach } from './reach.js';
import { quickDice } from './sabotage.js';
import { serve } from './service-of-own.js';
import { errorOf, setStage, warningsOf } from './stage.js';

const address = '203.0.113.77';
const created = Date.UTC(2026, 0, 31, 9, 30, 0);
const lastUsed = Date.UTC(2026, 1, 28, 23, 59, 58);

/** A key that was made, and used once, in the past. */
function addUsedKey({ plane }: RunningControlPlane, name: string): string {
  const key = plane.addKey(name);
  Object.assign(key, { createdAt: created, lastUsedAt: lastUsed, lastUsedFrom: address });
  return key.id;
}

type Listed = Readonly<Record<string, unknown>>;

function keysIn({ outputs }: StepResult): Listed[] {
  return JSON.parse(outputs['keys'] ?? '') as Listed[];
}

function names(result: StepResult): unknown[] {
  return keysIn(result).map(({ name }) => name);
}

function fileOf(result: StepResult): string {
  return result.readFile(result.outputs['result-file'] ?? '');
}

test.concurrent('all keys, with ids as texts, and the records as they came', async (context) => {
  const { service, runMode } = await setStage(context, { firstKeyId: 41 });
  addUsedKey(service, 'shop');
  service.plane.addKey('docs');

  const result = await runMode('list-keys');

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toEqual({
    status: 'ok',
    count: '3',
    'key-ids': '["41","42","43"]',
    keys: expect.any(String),
    'result-file': expect.any(String),
    'duration-ms': expect.stringMatching(/^\d+$/),
  });
  const keys = keysIn(result);
  expect(keys).toMatchObject([
    { id: 41, name: 'console', last_used_from_addr: '127.0.0.1' },
    { id: 42, name: 'shop', created_at: '2026-01-31T09:30:00.000000Z', last_used_from_addr: address },
    { id: 43, name: 'docs', created_at: expect.any(String) },
  ]);
  expect(Object.keys(keys[2] ?? {})).toEqual(['id', 'name', 'created_at']);
  expect(JSON.parse(fileOf(result))).toEqual({
    mode: 'list-keys',
    status: 'ok',
    count: 3,
    key_ids: ['41', '42', '43'],
    keys,
  });
  expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /v2/api_keys']);
  expect(warningsOf(result)).toEqual([]);
  expect(result.masks).toEqual([service.apiKey]);
});

test.concurrent('revoked keys are none', async (context) => {
  const { service, runMode } = await setStage(context);
  service.plane.revokeKey(service.plane.addKey('shop').id);
  const result = await runMode('list-keys');
  expect(names(result)).toEqual(['console']);
});

test.concurrent('the summary shows when keys were made and last used', async (context) => {
  const { service, runMode } = await setStage(context);
  const id = addUsedKey(service, 'shop');

  const result = await runMode('list-keys', { filter: 'name=shop' });

  expect(result.summary).toMatch(/^### ✅ list-keys: 1 key\n/);
  expect(result.summary).toContain('<th>Last used</th>');
  const cells = [id, 'shop', '2026-01-31 09:30:00Z', '2026-02-28 23:59:58Z'];
  expect(result.summary).toContain(`<tr>${cells.map((cell) => `<td><code>${cell}</code></td>`).join('')}</tr>`);
});

// Filters

const filters: readonly [filter: string, names: readonly string[]][] = [
  ['id=3', ['shop-2']],
  ['id!=3', ['console', 'shop-1', 'docs', 'Shop-3']],
  ['id=?', ['console', 'shop-1', 'shop-2', 'docs', 'Shop-3']],
  ['name=shop-1', ['shop-1']],
  ['name=shop', []],
  ['name=shop-*', ['shop-1', 'shop-2']],
  ['name!=shop-*', ['console', 'docs', 'Shop-3']],
  ['name=shop-*\nid!=2', ['shop-2']],
  ['created_at=2026-01-*', ['shop-1', 'shop-2']],
  ['created_at!=2026-01-*', ['console', 'docs', 'Shop-3']],
  ['last_used_at=2026-02-28T*', ['shop-1', 'shop-2']],
  ['last_used_at!=*', ['docs', 'Shop-3']],
  [`last_used_from_addr=${address}`, ['shop-1', 'shop-2']],
  [`last_used_from_addr!=${address}`, ['console', 'docs', 'Shop-3']],
  ['last_used_from_addr=127.0.0.?', ['console']],
];

for (const neverUsed of ['absent', 'null'] as const) {
  for (const [filter, expected] of filters) {
    test.concurrent(`${filter.replace('\n', ' and ')}, what was never used being ${neverUsed}`, async (context) => {
      const { service, runMode } = await setStage(context, { notShown: { neverUsed } });
      for (const name of ['shop-1', 'shop-2']) addUsedKey(service, name);
      for (const name of ['docs', 'Shop-3']) service.plane.addKey(name);

      const result = await runMode('list-keys', { filter });

      expect(result.conclusion).toBe('success');
      expect(names(result)).toEqual(expected);
      expect(result.outputs).toMatchObject({ status: 'ok', count: String(expected.length) });
      expect(JSON.parse(result.outputs['key-ids'] ?? '')).toHaveLength(expected.length);
    });
  }
}

test.concurrent('a field that keys do not have is refused, and those that they have are listed', async (context) => {
  const { service, runMode } = await setStage(context);
  for (const filter of ['nmae=shop', 'key=x', 'status=running', 'name', 'name=']) {
    const result = await runMode('list-keys', { filter });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(/^Bad input: filter: /);
    if (filter.includes('=') && filter !== 'name=')
      expect(errorOf(result)).toContain('id, name, created_at, last_used_at, last_used_from_addr');
  }
  expect(service.requests).toEqual([]);
});

for (const [failOn, filter, status] of [
  ['empty', 'name=nobody', 'empty'],
  ['empty', 'name=console', 'ok'],
  ['match', 'name=console', 'match'],
  ['match', 'name=nobody', 'ok'],
] as const) {
  test.concurrent(`fail-on: ${failOn} with ${filter} ends ${status}`, async (context) => {
    const { runMode } = await setStage(context);
    const found = filter === 'name=console';

    const result = await runMode('list-keys', { filter, 'fail-on': failOn });

    expect(result.conclusion).toBe(status === 'ok' ? 'success' : 'failure');
    expect(result.outputs).toMatchObject({
      status,
      count: found ? '1' : '0',
      'key-ids': found ? '["1"]' : '[]',
      keys: found ? expect.stringContaining('console') : '[]',
    });
    expect(JSON.parse(fileOf(result))).toMatchObject({ status });
    if (status !== 'ok') expect(errorOf(result)).toContain(`fail-on: ${failOn}`);
  });
}

test.concurrent('nothing found is no failure by itself', async (context) => {
  const { runMode } = await setStage(context);
  const result = await runMode('list-keys', { filter: 'name=nobody' });
  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ status: 'ok', count: '0', 'key-ids': '[]', keys: '[]' });
});

// How many

for (const [limit, count] of [
  ['', 6],
  ['0', 6],
  ['1', 1],
  ['5', 5],
  ['6', 6],
  ['7', 6],
] as const) {
  test.concurrent(`limit “${limit}” gives ${count} of six`, async (context) => {
    const { service, runMode } = await setStage(context);
    for (let left = 5; left > 0; left--) service.plane.addKey('shop');
    const result = await runMode('list-keys', { limit });
    expect(result.outputs).toMatchObject({ status: 'ok', count: String(count) });
    expect(keysIn(result)).toHaveLength(count);
    const isCut = limit === '1' || limit === '5';
    expect(warningsOf(result)).toEqual(
      isCut ? [`limit: ${limit} cut the list, but more keys match. Raise limit, or set it to 0 for all.`] : [],
    );
    expect(JSON.parse(result.outputs['key-ids'] ?? '')).toEqual(['1', '2', '3', '4', '5', '6'].slice(0, count));
  });
}

test.concurrent('a limit is one of those that the filter admits', async (context) => {
  const { service, runMode } = await setStage(context);
  for (const name of ['docs', 'shop', 'shop', 'shop']) service.plane.addKey(name);
  const result = await runMode('list-keys', { limit: '2', filter: 'name=shop' });
  expect(result.outputs).toMatchObject({ count: '2', 'key-ids': '["3","4"]' });
});

test.concurrent('a limit that is no number is refused', async (context) => {
  const { service, runMode } = await setStage(context);
  for (const limit of ['-1', '1.5', 'all', '1e3']) {
    const result = await runMode('list-keys', { limit });
    expect(errorOf(result)).toContain(`limit: “${limit}”`);
  }
  expect(service.requests).toEqual([]);
});

test.concurrent('of 120 keys the table shows 50, and says how many more there are', async (context) => {
  const { service, runMode } = await setStage(context);
  for (let left = 119; left > 0; left--) service.plane.addKey('shop');

  const result = await runMode('list-keys');

  expect(result.outputs).toMatchObject({ status: 'ok', count: '120' });
  expect(keysIn(result)).toHaveLength(120);
  expect(result.summary.match(/<tr>/g)).toHaveLength(51);
  expect(result.summary).toMatch(/70 more/);
});

test.concurrent('records of more than 100 KiB are left to the file; the ids are put out', async (context) => {
  const { service, runMode } = await setStage(context);
  for (let left = 800; left > 0; left--) service.plane.addKey('shop'.padEnd(80, '-'));

  const result = await runMode('list-keys');

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ count: '801', keys: '' });
  expect(JSON.parse(result.outputs['key-ids'] ?? '')).toHaveLength(801);
  expect((JSON.parse(fileOf(result)) as { keys: unknown[] }).keys).toHaveLength(801);
  expect(warningsOf(result)).toMatchObject([expect.stringMatching(/keys.*result-file/)]);
});

// What is not for everybody

test.concurrent('addresses go to outputs and result-file alone', async (context) => {
  const { service, runMode } = await setStage(context);
  addUsedKey(service, 'shop');

  for (const inputs of [{}, { 'fail-on': 'match' }, { filter: 'name=shop' }]) {
    const result = await runMode('list-keys', inputs, { debug: true });
    expect(result.outputs['keys']).toContain(address);
    expect(fileOf(result)).toContain(address);
    expect(result.summary).toContain('shop');
    expect(result.output + result.summary).not.toContain(address);
  }
});

test.concurrent('a secret that a service puts into its list goes nowhere', async (context) => {
  const { runMode } = await setStage(context);
  const secret = 'ctl_0123456789abcdefghijklmnopqrstuvwxyz';
  const { baseUrl, paths } = await serve(
    context,
    JSON.stringify([
      { id: 5, name: 'shop', key: secret, created_at: '2026-01-31T09:30:00Z' },
      { key: `${secret}"`, id: 6, name: 'docs' },
    ]),
  );

  const result = await runMode('list-keys', { 'base-url': baseUrl }, { debug: true });

  expect(paths).toHaveLength(1);
  expect(result.outputs).toMatchObject({ status: 'ok', 'key-ids': '["5","6"]' });
  expect(keysIn(result).map((key) => Object.keys(key))).toEqual([
    ['id', 'name', 'created_at'],
    ['id', 'name'],
  ]);
  const told = [result.output, result.log, result.summary, fileOf(result), ...Object.values(result.outputs)];
  expect(told.join('\n')).not.toContain(secret.slice(0, 12));
});

test.concurrent('nor one in a list that is unusable', async (context) => {
  const { runMode } = await setStage(context);
  const secret = 'ctl_0123456789abcdefghijklmnopqrstuvwxyz';
  for (const body of [
    JSON.stringify([{ name: 'shop', key: secret }]),
    JSON.stringify([
      { id: 5, key: secret },
      { id: null, key: secret },
    ]),
    JSON.stringify({ id: 5, key: secret }),
    JSON.stringify([{ id: 5, key: secret }]).slice(0, -1),
    `[{"id":5,"key":"${secret}"},]`,
  ]) {
    const { baseUrl } = await serve(context, body);
    const result = await runMode('list-keys', { 'base-url': baseUrl }, { debug: true, nodeArgs: quickDice });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(result.output + result.log + result.summary, body).not.toContain(secret.slice(0, 12));
  }
});

const attacks: Readonly<Record<string, string>> = {
  'a command': '::error::HACKED',
  'commands on lines of their own':
    'x\n::set-output name=status::HACKED\r::add-mask::ok\r\n::stop-commands::HACKED\n##[error]HACKED',
  'an output': 'x\nghadelimiter\nstatus=HACKED\nstatus<<EOF\nHACKED\nEOF',
  HTML: '<img src=x onerror=alert(1)></code></td></table><script>HACKED</script><!-- <details>',
  Markdown: '</code>\n\n# HACKED\n\n[HACKED](https://evil.example) ![](https://evil.example/x.png) **b** @octocat #1',
  'cells and fences': '| a | b |\n|---|---|\n`x` ``` HACKED\n```mermaid\ngraph TD',
  'colours and marks of direction': '\u001b[31mHACKED\u001b[2J\u009b1;1H\u202Egnp.exe\u2066\u2069\u200F\u061C',
  'a long text': 'HACKED '.repeat(10_000),
};

for (const [what, text] of Object.entries(attacks)) {
  test.concurrent(`${what} in every text of a key is text`, async (context) => {
    const { runMode } = await setStage(context);
    const record = { id: 5, name: text, created_at: text, last_used_at: text, last_used_from_addr: text, more: text };
    const { baseUrl } = await serve(context, JSON.stringify([record]));

    const result = await runMode('list-keys', { 'base-url': baseUrl, 'fail-on': 'match' }, { debug: true });

    expect(result.outputs).toMatchObject({ status: 'match', count: '1', 'key-ids': '["5"]' });
    expect(JSON.parse(fileOf(result))).toMatchObject({ keys: [record] });
    if (what !== 'a long text') expect(keysIn(result)).toEqual([record]);
    const own = result.commands.map(({ name }) => name).filter((name) => name !== 'debug' && name !== 'warning');
    expect(own).toEqual(['add-mask', 'error']);
    expect(result.masks).toHaveLength(1);
    expect(result.invalid).toEqual([]);
    expect(result.output).not.toContain('HACKED');
    expect(result.summary.length).toBeLessThan(5_000);
    expect(result.summary).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    // Outside of code there are only our own tags, and no word of the service.
    const bare = result.summary.replace(/<code>[^<>\n]*<\/code>/g, '').replace(/<\/?(?:p|br|table|tr|th|td)>/g, '');
    expect(bare).not.toMatch(/[<>]|HACKED|evil/);
    expect(result.summary.match(/<table>[\s\S]*<\/table>/)?.[0]).not.toMatch(/\n\s*\n/);
  });
}

// Records

test.concurrent('ids beyond 2^53 keep their digits', async (context) => {
  const { service, runMode } = await setStage(context, { firstKeyId: '9007199254740993' });
  service.plane.addKey('shop');

  const result = await runMode('list-keys');
  const one = await runMode('list-keys', { filter: 'id=9007199254740994' });

  expect(result.outputs).toMatchObject({ 'key-ids': '["9007199254740993","9007199254740994"]' });
  expect(result.outputs['keys']).toMatch(/\{"id":9007199254740993,.*\{"id":9007199254740994,/);
  expect(fileOf(result)).toMatch(/\{"id":9007199254740993,.*\{"id":9007199254740994,/);
  expect(result.summary).toContain('<code>9007199254740993</code>');
  expect(one.outputs).toMatchObject({ 'key-ids': '["9007199254740994"]' });
});

test.concurrent('all of a record but its id may be missing, and what is more passes through', async (context) => {
  const { runMode } = await setStage(context);
  const records = [
    '{"id":5}',
    '{"id":6,"name":null,"created_at":null,"last_used_at":null,"last_used_from_addr":null}',
    '{"id":7,"name":"","of_tomorrow":{"deep":[12345678901234567890]}}',
    '{"id":8,"name":12,"created_at":0,"last_used_at":"yesterday"}',
    '{"id":"9","name":"shop"}',
  ];
  const { baseUrl } = await serve(context, `[${records}]`);

  const result = await runMode('list-keys', { 'base-url': baseUrl });

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ count: '5', 'key-ids': '["5","6","7","8","9"]', keys: `[${records}]` });
  expect(result.summary.match(/<tr>/g)).toHaveLength(6);
});

test.concurrent('a key that is listed twice is one', async (context) => {
  const { runMode } = await setStage(context);
  const { baseUrl } = await serve(context, '[{"id":5,"name":"a"},{"id":6},{"id":5,"name":"a"}]');
  const result = await runMode('list-keys', { 'base-url': baseUrl });
  expect(result.outputs).toMatchObject({ count: '2', 'key-ids': '["5","6"]' });
});

test.concurrent('no keys at all', async (context) => {
  const { runMode } = await setStage(context);
  const { baseUrl } = await serve(context, '[]');
  const result = await runMode('list-keys', { 'base-url': baseUrl });
  expect(result.outputs).toMatchObject({ status: 'ok', count: '0', keys: '[]', 'key-ids': '[]' });
});

const unusable: readonly [what: string, body: string, place: string][] = [
  ['a record without an id', '[{"id":5},{"name":"shop"}]', '`[1].id`'],
  ['a record whose id is null', '[{"id":null}]', '`[0].id`'],
  ['a record whose id is a text', '[{"id":5},{"id":6},{"id":"shop"}]', '`[2].id`'],
  ['a record whose id is empty', '[{"id":""}]', '`[0].id`'],
  ['a record whose id is a fraction', '[{"id":1.5}]', '`[0].id`'],
  ['a record whose id is negative', '[{"id":-5}]', '`[0].id`'],
  ['a record whose id is an object', '[{"id":{}}]', '`[0].id`'],
  ['a record that is a text', '[{"id":5},"shop"]', '`[1]`'],
  ['a record that is null', '[null]', '`[0]`'],
  ['a record that is an array', '[[]]', '`[0]`'],
  ['an object', '{"api_keys":[{"id":5}]}', 'an array'],
  ['null', 'null', 'an array'],
  ['a text', '"[]"', 'an array'],
  ['a number', '0', 'an array'],
];

for (const [what, body, place] of unusable) {
  test.concurrent(`${what} is an error that names the place`, async (context) => {
    const { runMode } = await setStage(context);
    const { baseUrl, paths } = await serve(context, body);
    const result = await runMode('list-keys', { 'base-url': baseUrl });
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain(place);
    expect(errorOf(result)).toContain('GET /v2/api_keys');
    expect(paths).toHaveLength(1);
  });
}

// Faults

const passing: Readonly<Record<string, Fault>> = {
  '503': { kind: 'status', status: 503 },
  'a body cut short': { kind: 'cut-mid-body' },
  'a page': { kind: 'html' },
};

for (const [what, fault] of Object.entries(passing)) {
  test.concurrent(`${what}, once, is read again; for ever, it is an error and never an empty list`, async (context) => {
    const { service, runMode } = await setStage(context);
    const options = { nodeArgs: quickDice };

    const remove = service.faults.add({ nth: 1, fault });
    const once = await runMode('list-keys', { 'request-timeout': '1s' }, options);
    remove();
    service.faults.add({ fault });
    const forEver = await runMode('list-keys', { 'request-timeout': '300ms', timeout: '4s' }, options);

    expect(once.outputs).toMatchObject({ status: 'ok', count: '1' });
    expect(forEver.conclusion).toBe('failure');
    expect(forEver.outputs).toMatchObject({ status: 'error' });
    expect(forEver.outputs).not.toHaveProperty('count');
    expect(errorOf(forEver)).toContain('GET /v2/api_keys');
  });
}

for (const status of [201, 204, 206]) {
  test.concurrent(`a list with ${status} is not known to be whole`, async (context) => {
    const { service, runMode } = await setStage(context, {
      faults: [{ fault: { kind: 'status', status, body: status === 204 ? '' : '[{"id":5}]' } }],
    });
    const result = await runMode('list-keys', {}, { nodeArgs: quickDice });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(service.requests.length).toBeLessThanOrEqual(5);
  });
}

test.concurrent('a key that is not accepted is told what to do', async (context) => {
  const { service, runMode } = await setStage(context);
  const result = await runMode('list-keys', { 'api-key': 'a-key-that-nobody-made' });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/401.*UNAUTHORIZED.*request id.*api-key/s);
  expect(service.requests).toHaveLength(1);
});

test.concurrent('inputs of other modes are ignored with one warning, and github-token is none of them', async (context) => {
  const { runMode } = await setStage(context);
  const result = await runMode('list-keys', {
    'key-id': 'nonsense',
    'older-than': 'soon',
    'dry-run': 'maybe',
    'github-token': 'ghs_ofsomebodyelse',
  });
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toHaveLength(1);
  expect(warningsOf(result)[0]).toMatch(/key-id, older-than, dry-run\./);
  expect(result.output + result.summary).not.toContain('ghs_ofsomebodyelse');
});

// Each alone, as it is a matter of time

test('a cancel while the list is awaited ends the step red, without an error', async (context) => {
  const { service, startMode } = await setStage(context, { faults: [{ fault: { kind: 'hang-before-headers' } }] });
  const step = startMode('list-keys');
  await reach(step, service.arrived());
  step.kill('SIGTERM');
  const result = await step.done;
  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expect(result.annotations).toEqual([]);
  expect(result.exitCode).toBe(1);
  expect(result.summary).toMatch(/cancelled/i);
  expect(result.ms - (result.signals[0]?.ms ?? Number.NaN)).toBeLessThan(2_000);
});

test('the deadline while the list is awaited ends the step', async (context) => {
  const { runMode } = await setStage(context, { faults: [{ fault: { kind: 'drip', intervalMs: 100 } }] });
  const result = await runMode('list-keys', { timeout: '800ms' });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/Timed out after 800ms/);
  expect(result.ms).toBeLessThan(2_800);
});
