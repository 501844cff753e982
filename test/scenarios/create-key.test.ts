import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Exchange, Fault } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { reach } from './reach.js';
import { quickDice } from './sabotage.js';
import { errorOf, type Stage, setStage } from './stage.js';

// Those that take 20 s by design come first, so that all else runs beside them.

test.concurrent('a deadline in flight ends the step, and post revokes what is made even after that', async (context) => {
  const { service, runMode, runPost } = await setStage(context, {
    faults: [
      { endpoint: 'create-key', fault: { kind: 'hang-before-headers', done: { msAfterGivenUp: 4_000 } } },
      { endpoint: 'list-keys', nth: 2, fault: { kind: 'status', status: 503 } },
    ],
  });

  const main = await runMode('create-key', { timeout: '3s' });
  const madeTooEarly = service.plane.aliveKeys().length - 1;
  const post = await runPost(main);

  expect(main.conclusion).toBe('failure');
  expect(main.outputs).toMatchObject({ status: 'error', key: '', 'key-id': '' });
  expect(Number(main.outputs['duration-ms'])).toBeLessThan(5_000);
  expect(errorOf(main)).toMatch(/Timed out after 3s/);
  expect(errorOf(main)).toContain(main.outputs['key-name']);
  expect(service.requests.filter(({ endpoint }) => endpoint === 'create-key')).toHaveLength(1);
  expect(madeTooEarly).toBe(0);
  expect(service.plane.key('2')?.name).toBe(main.outputs['key-name']);
  expectOnlyParentAlive(service);
  expectQuiet(post);
  expect(post.ms).toBeLessThan(22_000);
  expect(post.summary).toContain('<code>2</code>');
});

test.concurrent('revoke-in-post: false leaves the key, but post still looks for what an unclear create left', async (context) => {
  const { service, runMode, runPost } = await setStage(context, {
    faults: [
      { endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: { msAfterGivenUp: 4_000 } } },
    ],
  });

  const main = await runMode('create-key', { 'revoke-in-post': 'false' }, { nodeArgs: quickDice });
  const post = await runPost(main, { nodeArgs: [] });

  expect(main.conclusion).toBe('success');
  const name = main.outputs['key-name'] ?? '';
  // Two were made, and that of the given up connection was the later one.
  expect(service.plane.key('3')?.name).toBe(name);
  expect(service.plane.aliveKeys(name).map(({ id }) => id)).toEqual([main.outputs['key-id']]);
  expectQuiet(post);
  expect(post.ms).toBeLessThan(22_000);
});

test.concurrent('the outputs are the key, its id, its name, the status and the time', async (context) => {
  const { service, runMode } = await setStage(context);

  const result = await runMode('create-key');

  expect(result.conclusion).toBe('success');
  const name = result.outputs['key-name'] ?? '';
  expect(result.outputs).toEqual({
    status: 'ok',
    key: service.plane.key('2')?.key,
    'key-id': '2',
    'key-name': name,
    'duration-ms': expect.stringMatching(/^\d+$/),
  });
  expect(service.plane.aliveKeys(name).map(({ id }) => id)).toEqual(['2']);
  expect(result.annotations).toEqual([]);
  expect(result.env).toEqual({});
  expect(result.summary).toMatch(/^### ✅ create-key: /);
  expect(result.summary).toContain('<code>2</code>');
  expect(result.summary).toContain(`<code>${name}</code>`);
});

test.concurrent('one request is sent, as documented', async (context) => {
  const { service, runMode } = await setStage(context);

  const result = await runMode('create-key');

  expect(service.requests).toHaveLength(1);
  const { method, path, headers, body } = onlyOne(service.requests);
  expect({ method, path }).toEqual({ method: 'POST', path: '/v2/api_keys' });
  expect(headers).toMatchObject({
    authorization: `Bearer ${service.apiKey}`,
    accept: 'application/json',
    'content-type': 'application/json',
  });
  expect(JSON.parse(body)).toEqual({ key_name: result.outputs['key-name'] });
});

test.concurrent('the secret is masked raw, as hex and as base64url; an id is never masked', async (context) => {
  const secret = `ctl_${'Zq7/Wm+4"Lk&9%Xs<2\\Vb'.repeat(3)}_end=`;
  const body = JSON.stringify({ id: 77_123_456, key: secret });
  const { service, runMode } = await setStage(context, {
    faults: [{ endpoint: 'create-key', fault: { kind: 'status', status: 200, body } }],
  });

  const result = await runMode('create-key', { 'export-env': 'DB_API_KEY' });

  expect(result.masks).toEqual([service.apiKey, secret, hex(secret), base64url(secret)]);
  expect(result.outputs).toMatchObject({ key: secret, 'key-id': '77123456' });
  expect(result.env).toEqual({ DB_API_KEY: secret });
  expect(result.log).toContain('77123456');
  expect(result.log + result.summary).not.toContain(secret.slice(0, 20));
});

test.concurrent('a key without export-env goes to no environment, with it under that name alone', async (context) => {
  const { runMode } = await setStage(context);

  const without = await runMode('create-key');
  const withIt = await runMode('create-key', { 'export-env': 'DB_API_KEY' });

  expect(without.env).toEqual({});
  expect(withIt.env).toEqual({ DB_API_KEY: withIt.outputs['key'] });
});

test.concurrent.for(['DB_API_KEY', 'PGPASSWORD', 'API_TOKEN', 'KEY', '_key', 'db_key2', 'MY_PATH', 'XGITHUB_TOKEN'])(
  '%s is a good name for the environment',
  async (name, context) => {
    const { runMode } = await setStage(context);

    const result = await runMode('create-key', { 'export-env': name });

    expect(result.conclusion).toBe('success');
    expect(result.env).toEqual({ [name]: result.outputs['key'] });
  },
);

const steering = [
  ['GITHUB_TOKEN', 'GITHUB_ENV', 'github_output', 'RUNNER_TEMP', 'Runner_Debug', 'ACTIONS_RUNTIME_TOKEN'],
  ['actions_step_debug', 'CTL_API_KEY', 'CTL_BASE_URL', 'ctl_anything', 'PATH', 'Path', 'path', 'PATHEXT'],
  ['NODE_OPTIONS', 'node_options', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS', 'NODE_TLS_REJECT_UNAUTHORIZED'],
  ['LD_PRELOAD', 'ld_preload', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES'],
  ['BASH_ENV', 'ENV', 'SHELL', 'IFS', 'PS4', 'PROMPT_COMMAND', 'HOME', 'CI', 'INPUT_MODE', 'STATE_KEY', 'State_key'],
  ['PYTHONPATH', 'PYTHONSTARTUP', 'PERL5LIB', 'PERL5OPT', 'RUBYOPT', 'JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS'],
  ['HTTPS_PROXY', 'http_proxy', 'NO_PROXY', 'ALL_PROXY', 'GIT_SSH_COMMAND', 'GIT_CONFIG_COUNT', 'SSL_CERT_FILE'],
  ['npm_config_registry', 'TMPDIR', 'TEMP', 'LANG', 'LC_ALL', 'DOCKER_HOST', 'DOTNET_STARTUP_HOOKS', 'MAKEFLAGS'],
];

test.concurrent.for(steering)('names that steer later steps are refused, such as %s', async (names, context) => {
  const { service, runMode } = await setStage(context);

  for (const name of names as readonly string[]) {
    const result = await runMode('create-key', { 'export-env': name });
    expect(errorOf(result)).toMatch(new RegExp(`export-env: “${name}” .*later steps.*DB_API_KEY`));
    expect(result.env).toEqual({});
  }
  expect(service.requests).toEqual([]);
});

test.concurrent.for(['', 'two words', '2KEYS', 'DB-KEY', 'KEY=1', 'KÉY', 'DB$KEY'])(
  '“%s” is no name of a variable, or none at all',
  async (name, context) => {
    const { service, runMode } = await setStage(context);

    const result = await runMode('create-key', { 'export-env': name });

    if (name === '') expect(result.env).toEqual({});
    else expect(errorOf(result)).toMatch(/export-env: .*not a valid name for an environment variable/);
    expect(service.requests).toHaveLength(name === '' ? 1 : 0);
  },
);

test.concurrent.for(['9007199254740992', '9223372036854775806', `1${'0'.repeat(40)}`])(
  'an id after %s keeps its digits in output, state and address',
  async (firstKeyId, context) => {
    const { service, runMode, runPost } = await setStage(context, { firstKeyId });
    const id = String(BigInt(firstKeyId) + 1n);

    const main = await runMode('create-key');
    const post = await runPost(main);

    expect(main.outputs['key-id']).toBe(id);
    expect(main.summary).toContain(`<code>${id}</code>`);
    expect(main.state['key']).toContain(`"${id}"`);
    expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v2/api_keys',
      `DELETE /v2/api_keys/${id}`,
    ]);
    expect(service.plane.isAlive(id)).toBe(false);
    expectQuiet(post);
    expect(post.summary).toContain(`<code>${id}</code>`);
  },
);

test.concurrent('a long id is revoked as it is where an unclear create left its key', async (context) => {
  const { service, runMode } = await setStage(context, {
    firstKeyId: '9007199254740992',
    faults: [{ endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers' } }],
  });

  const result = await runMode('create-key', {}, { nodeArgs: quickDice });

  expect(service.requests.map(({ path }) => path)).toContain('/v2/api_keys/9007199254740993');
  expect(result.outputs['key-id']).toBe('9007199254740994');
  expect(service.plane.aliveKeys(result.outputs['key-name']).map(({ id }) => id)).toEqual(['9007199254740994']);
});

const refusals: readonly [status: number, what: RegExp][] = [
  [400, /check the inputs/],
  [401, /Set api-key to a valid key/],
  [403, /Use a key of the account/],
  [404, /base-url/],
  [405, /check the inputs/],
  [409, /check the inputs/],
  [422, /check the inputs/],
];

test.concurrent.for(refusals)(
  '%i is final, says what to do, and leaves nothing to post',
  async ([status, what], context) => {
    const { service, runMode, runPost } = await setStage(context, {
      faults: [{ endpoint: 'create-key', fault: { kind: 'status', status } }],
    });

    const main = await runMode('create-key');
    const post = await runPost(main);

    expect(main.conclusion).toBe('failure');
    expect(main.outputs).toMatchObject({ status: 'error', key: '', 'key-id': '' });
    expect(errorOf(main)).toContain(`The service says ${status}.`);
    expect(errorOf(main)).toContain('code FAULT');
    expect(errorOf(main)).toMatch(/request id req-\d+/);
    expect(errorOf(main)).toMatch(what);
    expect(errorOf(main)).toMatch(/No key was created/);
    expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(['create-key']);
    expectNothingToDo(post);
  },
);

test.concurrent.for([423, 429])(
  '%i is waited out as long as Retry-After says, and nothing is looked for',
  async (status, context) => {
    const { service, runMode } = await setStage(context, {
      faults: [{ endpoint: 'create-key', nth: 1, fault: { kind: 'status', status, retryAfter: { seconds: 2 } } }],
    });

    const result = await runMode('create-key');

    expect(result.conclusion).toBe('success');
    expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(['create-key', 'create-key']);
    const [first, second] = service.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_990);
    expect(service.plane.aliveKeys(result.outputs['key-name'])).toHaveLength(1);
  },
);

test.concurrent.for([423, 429])('%i is no failure: it is tried more than five times', async (status, context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ endpoint: 'create-key', count: 6, fault: { kind: 'status', status } }],
  });

  const result = await runMode('create-key', {}, { nodeArgs: quickDice });

  expect(result.conclusion).toBe('success');
  expect(service.requests).toHaveLength(7);
});

test.concurrent.for([423, 429])(
  '%i with a Retry-After beyond the deadline ends the step at once',
  async (status, context) => {
    const { service, runMode, runPost } = await setStage(context, {
      faults: [{ endpoint: 'create-key', fault: { kind: 'status', status, retryAfter: { seconds: 90 } } }],
    });

    const main = await runMode('create-key', { timeout: '1m' });
    const post = await runPost(main);

    expect(main.conclusion).toBe('failure');
    expect(main.outputs).toMatchObject({ status: 'error' });
    expect(main.ms).toBeLessThan(10_000);
    expect(errorOf(main)).toMatch(/1m 30s/);
    expect(errorOf(main)).toMatch(/No key was created/);
    expect(service.requests).toHaveLength(1);
    expectNothingToDo(post);
  },
);

test.concurrent('the deadline during a wait that the service asked for leaves nothing to post', async (context) => {
  const { service, folder, runMode, runPost } = await setStage(context, {
    faults: [{ endpoint: 'create-key', fault: { kind: 'status', status: 429 } }],
  });

  // Twelve are for the name; the next is for the pause, which becomes a minute.
  const dice = fixture(folder, 'dice', 'let thrown = 0; Math.random = () => (++thrown > 12 ? 60 : 0.5);');
  const main = await runMode('create-key', { timeout: '3s' }, { nodeArgs: dice });
  const post = await runPost(main, { nodeArgs: [] });

  expect(main.outputs).toMatchObject({ status: 'error' });
  expect(Number(main.outputs['duration-ms'])).toBeGreaterThanOrEqual(3_000);
  expect(errorOf(main)).toMatch(/Timed out after 3s.*The service says 429.*No key was created/s);
  expect(service.requests).toHaveLength(1);
  expectNothingToDo(post);
});

test.concurrent('a refused connection is tried again; no key was made, and post has nothing to do', async (context) => {
  const { runMode, runPost } = await setStage(context);
  const nowhere = { 'base-url': 'http://127.0.0.1:1/v2' };

  const main = await runMode('create-key', nowhere, { nodeArgs: quickDice, debug: true });
  const post = await runPost(main, { nodeArgs: [], debug: false });

  expect(main.conclusion).toBe('failure');
  expect(main.outputs).toMatchObject({ status: 'error', key: '', 'key-id': '' });
  expect(main.log.match(/POST \/v2\/api_keys .*Connection refused/g)).toHaveLength(5);
  expect(errorOf(main)).toMatch(/Connection refused.*base-url.*No key was created/s);
  expectNothingToDo(post);
});

const secret = 'a-secret-that-nobody-may-see';
const answered = (body: string): Fault => ({ kind: 'status', status: 200, body, done: 'now' });

/** The service makes a key; nobody gets to know it. */
const unusable: Readonly<Record<string, string>> = {
  'an id alone': '{"id":5}',
  'a key without an id': `{"key":"${secret}"}`,
  'an id of null': `{"id":null,"key":"${secret}"}`,
  'an id that is a fraction': `{"id":5.5,"key":"${secret}"}`,
  'an id below 0': `{"id":-5,"key":"${secret}"}`,
  'an id that is a word': `{"id":"../5","key":"${secret}"}`,
  'an id that is an object': `{"id":{"$":5},"key":"${secret}"}`,
  'an empty key': '{"id":5,"key":""}',
  'a key of 7 characters': '{"id":5,"key":"1234567"}',
  'a key of null': '{"id":5,"key":null}',
  'a key that is a number': '{"id":5,"key":12345678901234567890}',
  'a key with a blank inside': `{"id":5,"key":"${secret} ${secret}"}`,
  'a key with a line end': `{"id":5,"key":"${secret}\\n::error::${secret}"}`,
  'a key that is a list': `{"id":5,"key":["${secret}"]}`,
  'a key one level down': `{"api_key":{"id":5,"key":"${secret}"}}`,
  null: 'null',
  true: 'true',
  'a number': '5',
  'a text': `"${secret}"`,
  'an array': `[{"id":5,"key":"${secret}"}]`,
  'an empty object': '{}',
  'no JSON': `id=5&key=${secret}`,
  'JSON that is cut': `{"id":5,"key":"${secret}`,
};

test.concurrent.for(Object.entries(unusable))(
  'answered with %s: what was made is revoked, and tried again',
  async ([, body], context) => {
    const { service, runMode } = await setStage(context, {
      faults: [{ endpoint: 'create-key', nth: 1, fault: answered(body) }],
    });

    const result = await runMode('create-key', {}, { nodeArgs: quickDice, debug: true });

    expectOneKey(service, result);
    expect(everything(result)).not.toContain(secret.slice(0, 12));
  },
);

test.concurrent.for(['an id alone', 'a key with a blank inside', 'null', 'an array'])(
  'answered each time with %s: no key is left, and none is shown',
  async (name, context) => {
    const { service, runMode } = await setStage(context, {
      faults: [{ endpoint: 'create-key', fault: answered(unusable[name] ?? '') }],
    });

    const result = await runMode('create-key', {}, { nodeArgs: quickDice, debug: true });

    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error', key: '', 'key-id': '' });
    const round = ['create-key', 'list-keys', 'revoke-key'];
    expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(Array(5).fill(round).flat());
    expect(errorOf(result)).toContain(result.outputs['key-name']);
    expectOnlyParentAlive(service);
    expect(everything(result)).not.toContain(secret.slice(0, 12));
  },
);

const tooSlow = { 'request-timeout': '2s' };

const unclear: Readonly<Record<string, [fault: Fault, inputs?: Readonly<Record<string, string>>]>> = {
  'a cut before the headers': [{ kind: 'cut-before-headers' }],
  'a reset': [{ kind: 'cut-before-headers', by: 'reset' }],
  'a cut before anything was done': [{ kind: 'cut-before-headers', done: 'never' }],
  'a cut in the body': [{ kind: 'cut-mid-body' }],
  'a reset in a body of chunks': [{ kind: 'cut-mid-body', framing: 'chunked', by: 'reset' }],
  'no answer in time': [{ kind: 'hang-before-headers' }, tooSlow],
  'half an answer in time': [{ kind: 'hang-mid-body' }, tooSlow],
  'an answer that drips': [{ kind: 'drip', intervalMs: 500 }, tooSlow],
  'an answer without an end': [{ kind: 'endless-body' }],
  'an empty body': [{ kind: 'empty-body' }],
  'a body that is damaged at its end': [{ kind: 'bad-json' }],
  'a login page': [{ kind: 'html', done: 'now' }],
  '408': [{ kind: 'status', status: 408, done: 'now' }],
  '425': [{ kind: 'status', status: 425, done: 'now' }],
  '500': [{ kind: 'status', status: 500, done: 'now' }],
  '500 of one that did nothing': [{ kind: 'status', status: 500 }],
  '502': [{ kind: 'html', status: 502, done: 'now' }],
  '503': [{ kind: 'status', status: 503, done: 'now' }],
  '504': [{ kind: 'status', status: 504, done: 'now' }],
  '524': [{ kind: 'status', status: 524, done: 'now' }],
};

test.concurrent.for(Object.entries(unclear))(
  'after %s the key is looked for by its exact name, revoked, and tried again',
  async ([name, [fault, inputs]], context) => {
    const { service, startMode } = await setStage(context, { faults: [{ endpoint: 'create-key', nth: 1, fault }] });
    const step = startMode('create-key', inputs, { nodeArgs: quickDice });
    const others = nearlyOfThatName(await reach(step, service.arrived({ endpoint: 'create-key' }))).map(
      (other) => service.plane.addKey(other).id,
    );

    const result = await step.done;

    // What is too large is not tried again, but revoked all the same.
    if (name !== 'an answer without an end') expectOneKey(service, result);
    else expect(service.plane.aliveKeys(result.outputs['key-name'])).toEqual([]);
    expect(others.filter((id) => !service.plane.isAlive(id))).toEqual([]);
    expect(service.plane.isAlive('1')).toBe(true);
  },
);

// Such as that of a proxy which dislikes the answer that the service gave.
test.concurrent('a page with 403 is no refusal by the service: what was made is revoked', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ endpoint: 'create-key', fault: { kind: 'html', status: 403, done: 'now' } }],
  });

  const result = await runMode('create-key', {}, { nodeArgs: quickDice });

  expect(errorOf(result)).toMatch(/HTML page/);
  expectOnlyParentAlive(service);
});

test.concurrent('a redirect is not followed and not tried again, but what was made is revoked', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ endpoint: 'create-key', fault: { kind: 'redirect', location: '/v2/elsewhere', done: 'now' } }],
  });

  const result = await runMode('create-key');

  expect(errorOf(result)).toMatch(/redirect to .*\/v2\/elsewhere/);
  expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(['create-key', 'list-keys', 'revoke-key']);
  expectOnlyParentAlive(service);
});

test.concurrent('a key that cannot be looked for is not made a second time', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [
      { endpoint: 'create-key', fault: { kind: 'cut-before-headers' } },
      { endpoint: 'list-keys', fault: { kind: 'status', status: 503 } },
    ],
  });

  const result = await runMode('create-key', {}, { nodeArgs: quickDice });

  expect(result.conclusion).toBe('failure');
  expect(service.requests.filter(({ endpoint }) => endpoint === 'create-key')).toHaveLength(1);
  expect(errorOf(result)).toContain(result.outputs['key-name']);
  expect(result.state['key']).toContain(result.outputs['key-name']);
});

test.concurrent('a refusal after an unclear end leaves the intent: the first may still be carried out', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [
      { endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: 'never' } },
      { endpoint: 'create-key', nth: 2, fault: { kind: 'status', status: 403 } },
    ],
  });

  const result = await runMode('create-key', {}, { nodeArgs: quickDice });

  expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(['create-key', 'list-keys', 'create-key']);
  expect(errorOf(result)).toMatch(/The service says 403/);
  expect(errorOf(result)).toContain(result.outputs['key-name']);
  expect(result.state['key']).toContain(result.outputs['key-name']);
});

test.concurrent('revoke-in-post: false leaves the key alive, and nothing to post', async (context) => {
  const { service, runMode, runPost } = await setStage(context);

  const main = await runMode('create-key', { 'revoke-in-post': 'false' });
  const post = await runPost(main);

  expect(main.conclusion).toBe('success');
  expect(service.plane.isAlive('2')).toBe(true);
  expect(service.requests).toHaveLength(1);
  expectNothingToDo(post);
});

for (const revokeInPost of ['true', 'false']) {
  test.concurrent(`killed before its outputs, with revoke-in-post: ${revokeInPost}: the key is nobody's, and revoked`, async (context) => {
    const { service, folder, runMode, runPost } = await setStage(context);

    const main = await runMode(
      'create-key',
      { 'revoke-in-post': revokeInPost },
      { nodeArgs: fixture(folder, 'killed', whenWriting('set_output', "process.kill(process.pid, 'SIGKILL');")) },
    );
    const post = await runPost(main, { nodeArgs: [] });

    expect(main.signal).toBe('SIGKILL');
    expect(main.outputs).toEqual({});
    expectQuiet(post);
    expectOnlyParentAlive(service);
    expect(post.summary).toContain('<code>2</code>');
  });

  for (const file of ['GITHUB_OUTPUT', 'GITHUB_ENV']) {
    test.concurrent(`where ${file} cannot be written, with revoke-in-post: ${revokeInPost}: red, and revoked`, async (context) => {
      const { service, folder, runMode, runPost } = await setStage(context);

      const main = await runMode(
        'create-key',
        { 'revoke-in-post': revokeInPost, 'export-env': 'DB_API_KEY' },
        { env: { [file]: join(folder, 'nowhere', 'x') } },
      );
      const post = await runPost(main, { env: { [file]: undefined } });

      expect(main.conclusion).toBe('failure');
      errorOf(main);
      const made = service.plane.key('2')?.key ?? '';
      // Masks come before state, state before output, output before environment.
      expect(main.masks).toContain(made);
      expect(main.state['key']).toContain(made);
      expect(main.outputs['key']).toBe(file === 'GITHUB_ENV' ? made : undefined);
      expect(withoutMasks(main.stdout) + main.stderr + main.summary).not.toContain(made);
      expectQuiet(post);
      expectOnlyParentAlive(service);
    });
  }
}

test.concurrent('where the state cannot be saved, nothing is sent', async (context) => {
  const { service, folder, runMode } = await setStage(context);

  const result = await runMode('create-key', {}, { env: { GITHUB_STATE: join(folder, 'nowhere', 'x') } });

  expect(result.conclusion).toBe('failure');
  expect(errorOf(result)).toMatch(/nowhere/);
  expect(service.requests).toEqual([]);
});

// A disk that is full for a moment: the state of the intent is there, that of the key is not.
test.concurrent('where the state of the key cannot be saved, the intent is not forgotten', async (context) => {
  const { service, folder, runMode, runPost } = await setStage(context);
  const full = "throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });";

  const main = await runMode(
    'create-key',
    {},
    { nodeArgs: fixture(folder, 'full', whenWriting('save_state', full, 3)) },
  );
  const post = await runPost(main, { nodeArgs: [] });

  expect(main.conclusion).toBe('failure');
  expect(main.outputs['key'] ?? '').toBe('');
  errorOf(main);
  expectQuiet(post);
  expectOnlyParentAlive(service);
});

test.concurrent('export-env where the runner gives no file for it puts no key into the log', async (context) => {
  const { service, runMode } = await setStage(context);

  const result = await runMode('create-key', { 'export-env': 'DB_API_KEY' }, { env: { GITHUB_ENV: undefined } });

  expect(result.conclusion).toBe('failure');
  const made = service.plane.key('2')?.key;
  if (made !== undefined) expect(withoutMasks(result.stdout)).not.toContain(made);
  expect(errorOf(result)).toContain('GITHUB_ENV');
});

test.concurrent('timeout: 0 is for wait-operation alone', async (context) => {
  const { service, runMode } = await setStage(context);

  const result = await runMode('create-key', { timeout: '0' });

  expect(errorOf(result)).toMatch(/timeout: .*above 0/);
  expect(service.requests).toEqual([]);
});

test.concurrent('a cancel in flight ends the step red without an error, and leaves the intent', async (context) => {
  const { service, startMode } = await setStage(context, {
    faults: [{ endpoint: 'create-key', fault: { kind: 'hang-before-headers' } }],
  });
  const step = startMode('create-key');
  await reach(step, service.arrived({ endpoint: 'create-key' }));

  const result = await step.cancel();

  expect(result.outputs).toMatchObject({ status: 'cancelled', key: '', 'key-id': '' });
  expect(result.exitCode).not.toBe(0);
  expect(result.annotations.filter(({ source }) => source === 'action')).toEqual([]);
  expect(result.signals.map(({ signal }) => signal)).toEqual(['SIGINT']);
  expect(service.requests).toHaveLength(1);
  const [made] = service.plane.aliveKeys(result.outputs['key-name']);
  expect(result.state['key']).toContain(made?.name);
});

type Service = Stage['service'];

/** One key of the name is alive, and it is the one that was handed on; in between every look came before the next try. */
function expectOneKey(service: Service, result: StepResult): void {
  expect(result.conclusion).toBe('success');
  expect(result.annotations).toEqual([]);
  const { key, 'key-id': id, 'key-name': name } = result.outputs;
  expect(service.plane.aliveKeys(name).map((alive) => [alive.id, alive.key])).toEqual([[id, key]]);
  const course = service.requests.map(({ endpoint }) => endpoint).join(' ');
  expect(course).toMatch(/^create-key list-keys (revoke-key )?create-key$/);
  for (const { body } of service.requests.filter(({ method }) => method === 'POST')) {
    expect(JSON.parse(body)).toEqual({ key_name: name });
  }
}

function expectOnlyParentAlive({ plane }: Service): void {
  expect(plane.aliveKeys().map(({ name }) => name)).toEqual(['console']);
}

/** What was to be done was done, and there is no ado about it. */
function expectQuiet(post: StepResult): void {
  expect(post.annotations).toEqual([]);
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, overran: false });
}

function expectNothingToDo(post: StepResult): void {
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, output: '', summary: '' });
}

function nearlyOfThatName({ body }: Exchange): string[] {
  const { key_name: name } = JSON.parse(body) as { key_name: string };
  return [`${name}x`, `x${name}`, `${name} `, ` ${name}`, name.slice(0, -1), name.slice(1), name.toUpperCase()];
}

function onlyOne<T>(items: readonly T[]): T {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) throw new Error(`expected one, found ${items.length}`);
  return item;
}

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function withoutMasks(stdout: string): string {
  return stdout.replace(/^::add-mask::.*$/gm, '');
}

function everything(result: StepResult): string {
  const values = [result.outputs, result.state, result.env].flatMap((record) => Object.values(record));
  return [result.stdout, result.stderr, result.summary, ...values].join('\n');
}

/** Arguments of Node that load this code before the action. */
function fixture(folder: string, name: string, code: string): readonly string[] {
  const path = join(folder, `${name}.cjs`);
  writeFileSync(path, code);
  return ['--require', path];
}

/** Does something in place of the n-th write to one of the runner's files. */
function whenWriting(file: string, statement: string, nth = 1): string {
  return `const fs = require('node:fs');
    const append = fs.appendFileSync;
    let left = ${nth};
    fs.appendFileSync = (path, ...rest) => {
      if (String(path).includes('${file}_') && --left === 0) { ${statement} }
      return append(path, ...rest);
    };`;
}
