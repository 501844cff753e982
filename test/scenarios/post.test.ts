import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Exchange, Fault, FaultRule } from '../control-plane/index.js';
import type { StepHandle, StepResult } from '../runner/step.js';
import { reach } from './reach.js';
import { quickDice, sabotage } from './sabotage.js';
import { forged, readSaved } from './saved-state.js';
import { errorOf, type Stage, setStage, warningsOf } from './stage.js';

// Those that take 14 to 20 s by design come first, so that all else runs beside them.

test.concurrent('a service that hangs gets 5 s an exchange and 20 s in all', async (context) => {
  const { service, runMode, runPost } = await setStage(context, {
    faults: [{ endpoint: 'revoke-key', fault: { kind: 'hang-before-headers', done: 'never' } }],
  });

  const post = await runPost(await runMode('create-key'));

  expectWarned(post, /key-id: 2/);
  // Post has times of its own, which no input changes.
  expect(onlyOne(post.annotations).message).toMatch(/No complete response within [\d.]+s/);
  expect(post.output + post.summary).not.toContain('request-timeout');
  expect(post.ms).toBeGreaterThan(19_000);
  // Its process also starts and ends in this time.
  expect(post.ms).toBeLessThan(30_000);
  const tries = service.requests.filter(({ endpoint }) => endpoint === 'revoke-key');
  expect(tries.length).toBeGreaterThanOrEqual(3);
  // The service may see the last connection close after the process has ended.
  await vi.waitFor(() => expect(tries.map(({ endedAt }) => endedAt)).not.toContain(undefined));
  for (const { at, endedAt = at } of tries) expect(endedAt - at).toBeLessThan(7_500);
});

test.concurrent('after an unclear create all keys of the name are revoked, the one in use last', async (context) => {
  const { service, runMode, runPost } = await setStage(context, {
    faults: [
      { endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: { msAfterGivenUp: 3_000 } } },
      { endpoint: 'create-key', nth: 2, fault: { kind: 'cut-before-headers', done: { msAfterGivenUp: 5_000 } } },
    ],
  });

  const main = await runMode('create-key', {}, { nodeArgs: quickDice });
  const decoys = [`${main.outputs['key-name']}x`, `x${main.outputs['key-name']}`].map(
    (name) => service.plane.addKey(name).id,
  );
  const post = await runPost(main, { nodeArgs: [] });

  expectQuiet(post);
  expect(post.ms).toBeLessThan(22_000);
  const revoked = service.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => idIn(path));
  expect(revoked).toHaveLength(3);
  expect(revoked.at(-1)).toBe(main.outputs['key-id']);
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1', ...decoys]);
  // The minted key looks, goes by itself, and in the rest of the time the parent looks on.
  const senders = requestsAfter(service, main).map(({ keyId }) => keyId);
  const last = senders.lastIndexOf(main.outputs['key-id']);
  expect(last).toBeGreaterThan(0);
  expect(new Set(senders.slice(0, last))).toEqual(new Set([main.outputs['key-id']]));
  expect(new Set(senders.slice(last + 1))).toEqual(new Set(['1']));
  for (const id of revoked) expect(post.summary).toContain(`<code>${id}</code>`);
});

test.concurrent('after an unclear create the parent looks where the minted key may not', async (context) => {
  const { service, runMode, runPost } = await setStage(context, {
    faults: [
      { endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: { msAfterGivenUp: 3_000 } } },
    ],
  });

  const main = await runMode('create-key', {}, { nodeArgs: quickDice });
  service.faults.add({ nth: 1, fault: { kind: 'status', status: 403 } });
  const post = await runPost(main, { nodeArgs: [] });

  expectQuiet(post);
  expectOnlyParentAlive(service);
});

test.concurrent('the minted key revokes itself, with one request', async (context) => {
  const { service, runMode, runPost } = await setStage(context);

  const main = await runMode('create-key');
  const post = await runPost(main);

  const [, request, ...others] = service.requests;
  expect(others).toEqual([]);
  expect(request).toMatchObject({ method: 'DELETE', path: '/v2/api_keys/2', keyId: '2', status: 200 });
  expect(request?.headers).toMatchObject({
    authorization: `Bearer ${main.outputs['key']}`,
    accept: 'application/json',
  });
  expect(request?.body).toBe('');
  expectQuiet(post);
  expectOnlyParentAlive(service);
});

test.concurrent('the summary tells id, name and lifetime, and no secret', async (context) => {
  const { service, runMode, runPost } = await setStage(context);

  const main = await runMode('create-key');
  const post = await runPost(main);

  expect(post.summary).toMatch(/^### ✅ create-key: Key 2 was revoked/);
  expect(post.summary).toContain('<code>2</code>');
  expect(post.summary).toContain(`<code>${main.outputs['key-name']}</code>`);
  expect(post.summary).toMatch(/<td>\d+(\.\d)?m?s<\/td>/);
  expect(post.summary + withoutMasks(post)).not.toContain(main.outputs['key']);
  expect(post.summary + withoutMasks(post)).not.toContain(service.apiKey);
});

test.concurrent('whether there is a summary is for main to say', async (context) => {
  const { runMode, runPost } = await setStage(context);

  const without = await runPost(await runMode('create-key', { summary: 'false' }), { inputs: { summary: 'true' } });
  const withIt = await runPost(await runMode('create-key'), { inputs: { summary: 'false' } });

  expectQuiet(without);
  expect(without.summary).toBe('');
  expectQuiet(withIt);
  expect(withIt.summary).toContain('<code>');
});

test.concurrent('the first try goes out at once: no timer is waited for', async (context) => {
  const { service, folder, runMode, runPost } = await setStage(context);

  const main = await runMode('create-key');
  const noTimers = 'globalThis.setTimeout = () => ({ ref() {}, unref() {} });';
  const post = await runPost(main, { nodeArgs: fixture(folder, 'no-timers', noTimers) });

  expectQuiet(post);
  expectOnlyParentAlive(service);
});

test.concurrent.for(['SIGINT', 'SIGTERM'] as const)('%s does not stop it half-way', async (signal, context) => {
  const { service, runMode, startPost } = await setStage(context, {
    faults: [{ endpoint: 'revoke-key', fault: { kind: 'delay', ms: 500 } }],
  });
  const step = startPost(await runMode('create-key'));
  await reach(step, service.arrived({ endpoint: 'revoke-key' }));

  step.kill(signal);
  const post = await step.done;

  expectQuiet(post);
  expect(post.signal).toBe(null);
  expectOnlyParentAlive(service);
});

test.concurrent.for([400, 403, 405, 409, 410, 422])(
  'the parent key steps in where the minted one is refused with %i',
  async (status, context) => {
    const { service, runMode, runPost } = await setStage(context, {
      faults: [{ endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status } }],
    });

    const main = await runMode('create-key');
    const post = await runPost(main);

    expectQuiet(post);
    expect(requestsAfter(service, main).map(short)).toEqual(['DELETE 2 by 2', 'GET by 1', 'DELETE 2 by 1']);
    expectOnlyParentAlive(service);
    expect(withoutMasks(post) + post.summary).not.toContain(service.apiKey);
  },
);

test.concurrent('the parent key can come from the environment, in post too', async (context) => {
  const { service, runMode, runPost } = await setStage(context, {
    faults: [{ endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status: 403 } }],
  });

  const main = await runMode('create-key', { 'api-key': '' }, { env: { CTL_API_KEY: service.apiKey } });
  const post = await runPost(main);

  expectQuiet(post);
  expectOnlyParentAlive(service);
});

const strangers: Readonly<Record<string, string>> = {
  'another key': 'a-key-of-another-step',
  'no key': '',
  'half of the key': 'half',
};

test.concurrent.for(Object.entries(strangers))(
  'where post has %s, the parent is not there to step in',
  async ([, given], context) => {
    const { service, runMode, runPost } = await setStage(context);

    const main = await runMode('create-key');
    service.faults.add({ endpoint: 'revoke-key', fault: { kind: 'status', status: 403 } });
    const stranger = given === 'half' ? service.apiKey.slice(0, 32) : given;
    const post = await runPost(main, { inputs: { 'api-key': stranger } });

    expectWarned(post, /The service says 403.*key-id: 2/s);
    expect(requestsAfter(service, main).map(short)).toEqual(['DELETE 2 by 2']);
  },
);

for (const how of ['key-id', 'key-name'] as const) {
  test.concurrent(`a key that a step revoked early by its ${how} is a quiet no-op`, async (context) => {
    const { service, runMode, runPost } = await setStage(context);

    const main = await runMode('create-key');
    const early = await runMode('revoke-key', { [how]: main.outputs[how] }, { job: main.job });
    const post = await runPost(main);

    expect(early.outputs).toMatchObject({ status: 'revoked' });
    expectQuiet(post);
    expect(post.summary).toMatch(/^### ✅/);
    expect(post.summary).toMatch(/already gone/);
    expect(post.summary).toContain('<code>2</code>');
    expectOnlyParentAlive(service);
  });
}

interface Course {
  readonly faults?: readonly FaultRule[];
  /** The key is gone before post starts. */
  readonly before?: boolean;
  /** Without the key that main had. */
  readonly orphan?: boolean;
  readonly requests: readonly string[];
}

const onDelete = (nth: number, fault: Fault): FaultRule => ({ endpoint: 'revoke-key', nth, fault });
const onList = (nth: number, fault: Fault): FaultRule => ({ endpoint: 'list-keys', nth, fault });
const says = (status: number, body?: string, done: 'now' | 'never' = 'never'): Fault => ({
  kind: 'status',
  status,
  done,
  ...(body === undefined ? {} : { body }),
});
const lost: Fault = { kind: 'cut-before-headers' };

/** When it is gone by the contract, and what it takes to know that. */
const gone: Readonly<Record<string, Course>> = {
  'the answer says revoked: true': { requests: ['DELETE 2 by 2'] },
  'the answer says it with 202': {
    faults: [onDelete(1, says(202, '{"id":2,"revoked":true}', 'now'))],
    requests: ['DELETE 2 by 2'],
  },
  'the answer says it without an id': {
    faults: [onDelete(1, says(200, '{"revoked":true}', 'now'))],
    requests: ['DELETE 2 by 2'],
  },
  'the answer is 204, and the list does not show it': {
    faults: [onDelete(1, says(204, '', 'now'))],
    requests: ['DELETE 2 by 2', 'GET by 2', 'GET by 1'],
  },
  'the answer says nothing of it, and the list does not show it': {
    faults: [onDelete(1, says(200, '{"id":2}', 'now'))],
    requests: ['DELETE 2 by 2', 'GET by 2', 'GET by 1'],
  },
  'the answer was lost, and then the minted key gets 401; the list is clear': {
    faults: [onDelete(1, lost)],
    requests: ['DELETE 2 by 2', 'DELETE 2 by 2', 'GET by 1'],
  },
  'the answer was lost, and then the minted key gets 401; there is no parent': {
    faults: [onDelete(1, lost)],
    orphan: true,
    requests: ['DELETE 2 by 2', 'DELETE 2 by 2'],
  },
  'the answer was a 500, and then the minted key gets 401; the list is clear': {
    faults: [onDelete(1, says(500, undefined, 'now'))],
    requests: ['DELETE 2 by 2', 'DELETE 2 by 2', 'GET by 1'],
  },
  'the minted key gets 401, and the list is clear': { before: true, requests: ['DELETE 2 by 2', 'GET by 1'] },
  'the minted key gets 401, and there is no parent': { before: true, orphan: true, requests: ['DELETE 2 by 2'] },
  // A connection that was in use before may have been closed before the request came: the list knows.
  'the parent gets 404 after an answer that was lost on a used connection, and the list does not show it': {
    faults: [onDelete(1, says(403)), onDelete(2, lost)],
    requests: ['DELETE 2 by 2', 'GET by 1', 'DELETE 2 by 1', 'DELETE 2 by 1', 'GET by 1'],
  },
  'the parent gets 404 after an answer that was lost': {
    faults: [onDelete(1, says(403)), onDelete(2, { kind: 'cut-mid-body' })],
    requests: ['DELETE 2 by 2', 'GET by 1', 'DELETE 2 by 1', 'DELETE 2 by 1'],
  },
  'the parent gets 404 after a 503': {
    faults: [onDelete(1, says(403)), onDelete(2, says(503, undefined, 'now'))],
    requests: ['DELETE 2 by 2', 'GET by 1', 'DELETE 2 by 1', 'DELETE 2 by 1'],
  },
  'the first answer is 404, and the list does not show it': {
    faults: [onDelete(1, says(404)), onList(1, says(200, '[{"id":1,"name":"console"}]'))],
    requests: ['DELETE 2 by 2', 'GET by 2'],
  },
  'the minted key is refused, and the list of the parent does not show it': {
    faults: [onDelete(1, says(403, undefined, 'now'))],
    requests: ['DELETE 2 by 2', 'GET by 1'],
  },
  'the minted key is said to get 401, but the list shows it: the parent revokes it': {
    faults: [onDelete(1, says(401))],
    requests: ['DELETE 2 by 2', 'GET by 1', 'DELETE 2 by 1'],
  },
  'the first 404 is not true, and the second try succeeds': {
    faults: [onDelete(1, says(404))],
    requests: ['DELETE 2 by 2', 'GET by 2', 'GET by 1', 'DELETE 2 by 1'],
  },
  'revoked: false is not true, and the second try succeeds': {
    faults: [onDelete(1, says(200, '{"id":2,"revoked":false}'))],
    requests: ['DELETE 2 by 2', 'GET by 2', 'DELETE 2 by 2'],
  },
};

test.concurrent.for(Object.entries(gone))('it is gone where %s', async ([, course], context) => {
  const { service, runMode, runPost } = await setStage(context);

  const main = await runMode('create-key');
  for (const rule of course.faults ?? []) service.faults.add(rule);
  if (course.before === true) service.plane.revokeKey('2');
  const post = await runPost(main, course.orphan === true ? { inputs: {} } : {});

  expectQuiet(post);
  expect(post.summary).toMatch(/^### ✅/);
  expect(post.summary).toContain('<code>2</code>');
  expect(requestsAfter(service, main).map(short)).toEqual(course.requests);
  const isLie = course.requests.at(-1) === 'GET by 2';
  if (!isLie) expectOnlyParentAlive(service);
});

const always = (fault: Fault, endpoint: FaultRule['endpoint'] = 'revoke-key'): FaultRule => ({ endpoint, fault });
const nameOfMinted = '<the name of the minted key>';
const shown = `[{"id":1,"name":"console"},{"id":2,"name":"${nameOfMinted}"}]`;

/** Answers to a DELETE that did nothing: the key is alive, and nobody may say otherwise. */
const lies: Readonly<Record<string, readonly FaultRule[]>> = {
  '404 each time, with the list still showing the key': [always(says(404))],
  '404, then 503, then 404, with the list still showing the key': [onDelete(2, says(503)), always(says(404))],
  '404, then a lost answer, then 404, with the list still showing the key': [
    onDelete(2, { kind: 'cut-before-headers', done: 'never' }),
    always(says(404)),
  ],
  'a page with 404': [always({ kind: 'html', status: 404 })],
  'a page with 404 that says it is JSON': [
    always({ kind: 'status', status: 404, headers: { 'content-type': 'application/json' }, body: '<!doctype html>' }),
  ],
  'a page with 401': [always({ kind: 'html', status: 401 })],
  'a page with 503, then 404, with the list still showing the key': [
    onDelete(1, { kind: 'html', status: 503 }),
    always(says(404)),
  ],
  'a login page with 200': [always({ kind: 'html' })],
  'a login page with 200, then 404, with the list still showing the key': [
    onDelete(1, { kind: 'html' }),
    always(says(404)),
  ],
  'a redirect to a login page': [always({ kind: 'redirect', location: 'https://login.example/' })],
  'revoked: false': [always(says(200, '{"id":2,"revoked":false}'))],
  'revoked: "true"': [always(says(200, '{"id":2,"revoked":"true"}'))],
  'an empty body': [always(says(200, ''))],
  '204': [always(says(204, ''))],
  'another id, revoked': [always(says(200, '{"id":3,"revoked":true}'))],
  'an id that only begins so': [always(says(200, '{"id":22,"revoked":true}'))],
  'an array': [always(says(200, '[{"id":2,"revoked":true}]'))],
  'another id, then 404, with the list still showing the key': [
    onDelete(1, says(200, '{"id":3,"revoked":true}')),
    always(says(404)),
  ],
  'a text that is no JSON with 200, then 404, with the list still showing the key': [
    onDelete(1, says(200, 'OK')),
    always(says(404)),
  ],
  '404, with a list that is an object': [always(says(404)), always(says(200, '{"keys":[]}'), 'list-keys')],
  '404, with a list that is null': [always(says(404)), always(says(200, 'null'), 'list-keys')],
  '404, with a list that is a text': [always(says(404)), always(says(200, '"[]"'), 'list-keys')],
  '404, with a list that is cut': [always(says(404)), always(says(200, '[{"id":1}'), 'list-keys')],
  '404, with a list that is empty with 206': [always(says(404)), always(says(206, '[]'), 'list-keys')],
  '404, with a list that is empty with 404': [always(says(404)), always(says(404, '[]'), 'list-keys')],
  '404, with a list that is a page': [always(says(404)), always({ kind: 'html' }, 'list-keys')],
  '404, with a list of nobody knows what': [always(says(404)), always(says(200, '[{"name":"x"}]'), 'list-keys')],
  '404, with a list that shows it as a text': [
    always(says(404)),
    always(says(200, shown.replace('2,', '"2",')), 'list-keys'),
  ],
  '404 of all paths, as from a wrong address': [always(says(404), 'any')],
  '401 for the minted key, with the list of the parent still showing it': [
    onDelete(1, says(401)),
    always(says(404)),
    always(says(200, shown), 'list-keys'),
  ],
  '404, with a list that shows it without a name': [
    always(says(404)),
    always(says(200, '[{"id":1},{"id":2}]'), 'list-keys'),
  ],
};

test.concurrent.for(Object.entries(lies))('it is not gone for %s', async ([, faults], context) => {
  const { service, folder, runMode, runPost } = await setStage(context);

  const main = await runMode('create-key');
  const name = main.outputs['key-name'] ?? '';
  for (const rule of faults)
    service.faults.add(JSON.parse(JSON.stringify(rule).replaceAll(nameOfMinted, name)) as FaultRule);
  const post = await runPost(main, { nodeArgs: inHaste(folder) });

  expect(service.plane.isAlive('2')).toBe(true);
  expectWarned(post, /key-id: 2/);
  expect(post.summary).toContain('key-id: 2');
  expect(requestsAfter(service, main)[0]).toMatchObject({ method: 'DELETE', keyId: '2' });
});

for (const how of ['warn', 'fail'] as const) {
  test.concurrent(`on-revoke-failure: ${how} names the key and how to revoke it, once`, async (context) => {
    const { service, runMode, runPost } = await setStage(context);

    const main = await runMode('create-key', { 'on-revoke-failure': how });
    service.faults.add(always(says(403)));
    // Post hears nothing of the inputs.
    const post = await runPost(main, { inputs: { 'api-key': service.apiKey, 'on-revoke-failure': 'wran' } });

    const message = onlyOne(post.annotations).message;
    expect(onlyOne(post.annotations).kind).toBe(how === 'warn' ? 'warning' : 'error');
    expect(post).toMatchObject(
      how === 'warn' ? { exitCode: 0, conclusion: 'success' } : { exitCode: 1, conclusion: 'failure' },
    );
    expect(message).toMatch(/^Could not confirm that key 2 /);
    expect(message).toContain(main.outputs['key-name']);
    expect(message).toContain('The service says 403.');
    expect(message).toMatch(/mode: revoke-key and key-id: 2\b/);
    expect(post.summary).toContain('that key 2 ');
    expect(post.summary).toMatch(how === 'warn' ? /^### ⚠️/ : /^### ❌/);
    expect(requestsAfter(service, main).map(short)).toEqual(['DELETE 2 by 2', 'GET by 1', 'DELETE 2 by 1']);
  });

  test.concurrent(`on-revoke-failure: ${how} where no id is known names the name, and sends nothing`, async (context) => {
    const { service, runPost, startMode } = await setStage(context);
    const main = await killedInFlight(service, startMode('create-key', { 'on-revoke-failure': how }));

    const post = await runPost(main, { inputs: { 'api-key': 'a-key-of-another-step' } });

    const made = service.plane.key('2')?.name ?? 'none';
    const annotation = onlyOne(post.annotations);
    expect(annotation.kind).toBe(how === 'warn' ? 'warning' : 'error');
    expect(post.exitCode).toBe(how === 'warn' ? 0 : 1);
    expect(annotation.message).toContain(made);
    expect(annotation.message).toMatch(/sweep-keys/);
    expect(post.ms).toBeLessThan(10_000);
    expect(service.requests).toHaveLength(1);
  });
}

const impatient: readonly [what: string, fault: Fault][] = [
  ['429 in seconds', { kind: 'status', status: 429, retryAfter: { seconds: 25 } }],
  ['423 as a date', { kind: 'status', status: 423, retryAfter: { dateInSeconds: 60 } }],
  ['503 in seconds', { kind: 'status', status: 503, retryAfter: { seconds: 25 } }],
  ['408 in seconds', { kind: 'status', status: 408, retryAfter: { seconds: 3600 } }],
];

test.concurrent.for(impatient)('a Retry-After of %s beyond the 20 s ends it at once', async ([, fault], context) => {
  const { service, runMode, runPost } = await setStage(context);

  const main = await runMode('create-key');
  service.faults.add(always(fault));
  const post = await runPost(main);

  expectWarned(post, /key-id: 2/);
  expect(post.ms).toBeLessThan(10_000);
  expect(requestsAfter(service, main)).toHaveLength(1);
});

test.concurrent.for([423, 429, 503])('a Retry-After of %i within them is kept', async (status, context) => {
  const { service, runMode, runPost } = await setStage(context);

  const main = await runMode('create-key');
  service.faults.add(onDelete(1, { kind: 'status', status, retryAfter: { seconds: 2 } }));
  const post = await runPost(main);

  expectQuiet(post);
  expectOnlyParentAlive(service);
  const [first, second] = requestsAfter(service, main);
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_990);
});

test.concurrent('an unclear create with a Retry-After beyond the 20 s ends it at once too', async (context) => {
  const { service, runPost, startMode } = await setStage(context);
  const main = await killedInFlight(service, startMode('create-key'));
  service.faults.add(always({ kind: 'status', status: 503, retryAfter: { seconds: 60 } }, 'list-keys'));

  const post = await runPost(main);

  expectWarned(post, /key-name: shop-run/);
  expect(post.ms).toBeLessThan(10_000);
  expect(service.requests).toHaveLength(2);
});

const inVain: readonly [what: string, fault: Fault, gone: boolean, said: RegExp][] = [
  ['is refused', { kind: 'status', status: 403 }, true, /^A key named .*The service says 403/],
  [
    'is put off for longer than there is time',
    { kind: 'status', status: 429, retryAfter: { seconds: 60 } },
    false,
    /^Could not confirm that key 2 /,
  ],
];

test.concurrent.for(inVain)(
  'after an unclear create a look that %s is told, by name',
  async ([, fault, isGone, said], context) => {
    const { service, runMode, runPost } = await setStage(context, {
      faults: [{ endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: 'never' } }],
    });

    const main = await runMode('create-key', {}, { nodeArgs: quickDice });
    service.faults.add(always(fault, 'list-keys'));
    const post = await runPost(main, { nodeArgs: [] });

    expectWarned(post, said);
    expect(onlyOne(post.annotations).message).toContain(main.outputs['key-name']);
    expect(post.ms).toBeLessThan(10_000);
    expect(service.plane.isAlive('2')).toBe(!isGone);
  },
);

test.concurrent('in a nested composite post has the inputs of another step: nothing of them is sent anywhere', async (context) => {
  const { service, runMode, runPost } = await setStage(context);
  const other = await setStage(context, { apiKey: 'the-secret-of-the-other-step', firstKeyId: 1 });
  const foreign = {
    mode: 'revoke-key',
    'api-key': other.service.apiKey,
    'base-url': other.service.baseUrl,
    'key-id': '1',
    timeout: '1ms',
    'request-timeout': 'nonsense',
    'on-revoke-failure': 'fail',
    'revoke-in-post': 'false',
    summary: 'maybe',
  };

  const main = await runMode('create-key');
  const post = await runPost(main, {
    inputs: foreign,
    env: { CTL_API_KEY: other.service.apiKey, CTL_BASE_URL: other.service.baseUrl },
  });

  expectQuiet(post);
  expectOnlyParentAlive(service);
  expect(other.service.requests).toEqual([]);
  expect(sentTo(service)).not.toContain(other.service.apiKey);
  expect(post.output).not.toContain(other.service.apiKey);
});

test.concurrent('nor where the minted key is refused, or was never seen', async (context) => {
  const { service, runMode, runPost, startMode } = await setStage(context, { projects: 0 });
  const other = await setStage(context, { apiKey: 'the-secret-of-the-other-step', firstKeyId: 1 });
  const inputs = {
    mode: 'create-key',
    'api-key': other.service.apiKey,
    'base-url': other.service.baseUrl,
    'on-revoke-failure': 'fail',
  };

  const refused = await runMode('create-key');
  service.faults.add(always(says(403)));
  const ofRefused = await runPost(refused, { inputs });
  const unseen = await killedInFlight(service, startMode('create-key'));
  const ofUnseen = await runPost(unseen, { inputs });

  expectWarned(ofRefused, /key-id: 2/);
  expectWarned(ofUnseen, /key-name: shop-run/);
  expect(other.service.requests).toEqual([]);
  expect(sentTo(service)).not.toContain(other.service.apiKey);
  for (const { output, summary } of [ofRefused, ofUnseen]) expect(output + summary).not.toContain(other.service.apiKey);
});

test.concurrent('two steps in one job each revoke their own', async (context) => {
  const { service, runMode, runPost } = await setStage(context);

  const one = await runMode('create-key', { 'export-env': 'ONE_KEY' });
  const two = await runMode('create-key', { 'export-env': 'TWO_KEY' }, { job: one.job });
  // Posts run in the opposite order.
  const ofTwo = await runPost(two);
  const between = service.plane.aliveKeys().map(({ id }) => id);
  const ofOne = await runPost(one);

  expect([one, two].map(({ outputs }) => outputs['key-id'])).toEqual(['2', '3']);
  expect(between).toEqual(['1', '2']);
  expect(requestsAfter(service, two).map(short)).toEqual(['DELETE 3 by 3', 'DELETE 2 by 2']);
  for (const post of [ofOne, ofTwo]) expectQuiet(post);
  expectOnlyParentAlive(service);
});

test.concurrent('a matrix of ten at once: each job has its key, and revokes it', async (context) => {
  const { service, runMode, runPost } = await setStage(context);

  const mains = await Promise.all(Array.from({ length: 10 }, () => runMode('create-key')));
  expect(new Set(mains.map(({ outputs }) => outputs['key'])).size).toBe(10);
  expect(new Set(mains.map(({ outputs }) => outputs['key-name'])).size).toBe(10);
  expect(service.plane.aliveKeys()).toHaveLength(11);
  const posts = await Promise.all(mains.map((main) => runPost(main)));

  for (const post of posts) expectQuiet(post);
  const deletes = service.requests.filter(({ method }) => method === 'DELETE');
  expect(deletes).toHaveLength(10);
  for (const { path, keyId } of deletes) expect(idIn(path)).toBe(keyId);
  expectOnlyParentAlive(service);
});

type Damage = (state: string) => string;
const withParts =
  (parts: Readonly<Record<string, unknown>>): Damage =>
  (state) =>
    forged(state, parts);
const withoutPart = (name: string) => withParts({ [name]: undefined });
const mintedIn = (state: string) => readSaved(state).object['minted'] as { id: string; secret: string };

const damages: Readonly<Record<string, Damage>> = {
  'a text': () => 'nonsense',
  'half of it': (state) => state.slice(0, -20),
  'a part of it, twice': (state) => state + state,
  null: () => 'null',
  'a number': () => '5',
  'an array': (state) => `[${state}]`,
  'the secret as a text': (state) => JSON.stringify(mintedIn(state).secret),
  'no address': withoutPart('baseUrl'),
  'a bad address': withParts({ baseUrl: 'nowhere' }),
  'no name': withoutPart('name'),
  'a key of null': withParts({ minted: null }),
  'a key without an id': (state) => forged(state, { minted: { secret: mintedIn(state).secret } }),
  'a key without its secret': (state) => forged(state, { minted: { id: mintedIn(state).id } }),
};

test.concurrent.for(Object.entries(damages))(
  'state that is %s is a warning, without a secret',
  async ([, damage], context) => {
    const { service, runMode, runPost } = await setStage(context);

    const main = await runMode('create-key', { 'on-revoke-failure': 'fail' });
    const post = await runPost({ ...main, state: { key: damage(main.state['key'] ?? '') } }, { debug: true });

    expectWarned(post, /sweep-keys/);
    expect(requestsAfter(service, main)).toEqual([]);
    expect(post.output + post.summary).not.toContain(main.outputs['key']?.slice(0, 20));
    expect(post.output + post.summary).not.toContain(service.apiKey.slice(0, 20));
  },
);

test.concurrent.for(['revoke', 'mayHaveStrayKey', 'since', 'onFailure', 'summary'])(
  'state without its part %s: the key is revoked, or there is a warning',
  async (part, context) => {
    const { service, runMode, runPost } = await setStage(context);

    const main = await runMode('create-key');
    const post = await runPost({ ...main, state: { key: withoutPart(part)(main.state['key'] ?? '') } });

    expect(post.exitCode).toBe(0);
    expect(post.output + post.summary).not.toMatch(/NaN|undefined/);
    if (service.plane.isAlive('2')) expect(warningsOf(post)).toHaveLength(1);
  },
);

test.concurrent('state of an intent without its part mayHaveStrayKey: the key is revoked, or there is a warning', async (context) => {
  const { service, runPost, startMode } = await setStage(context);

  const main = await killedInFlight(service, startMode('create-key'));
  const post = await runPost({ ...main, state: { key: withoutPart('mayHaveStrayKey')(main.state['key'] ?? '') } });

  expect(post.exitCode).toBe(0);
  if (service.plane.isAlive('2')) expect(warningsOf(post)).toHaveLength(1);
});

const accidents: readonly [fixture: string, said: RegExp][] = [
  ['timer-throws', /sabotage in a timer/],
  ['timer-throws-twice', /sabotage in a timer/],
  ['promise-rejects', /sabotage in a promise/],
  ['event-loop-runs-empty', /event loop ran empty/],
];

for (const how of ['warn', 'fail'] as const) {
  test.concurrent.for(accidents)(
    `an accident before the key is known to be gone does what on-revoke-failure: ${how} says: %s`,
    async ([name, said], context) => {
      const { runMode, runPost } = await setStage(context);

      const main = await runMode('create-key', { 'on-revoke-failure': how });
      const post = await runPost(main, { nodeArgs: sabotage(name) });

      if (how === 'warn') expectWarned(post, said);
      else expect(errorOf(post)).toMatch(said);
      expect(post.exitCode).toBe(how === 'warn' ? 0 : 1);
      expect(onlyOne(post.annotations).message).toContain('that key 2 ');
      expect(onlyOne(post.annotations).message).toContain(main.outputs['key-name']);
      expect(withoutMasks(post) + post.summary).not.toContain(main.outputs['key']);
    },
  );

  test.concurrent(`an accident after that only warns, with on-revoke-failure: ${how}`, async (context) => {
    const { service, runMode, runPost } = await setStage(context);

    const main = await runMode('create-key', { 'on-revoke-failure': how });
    const post = await runPost(main, { nodeArgs: sabotage('body-ends-in-a-throw') });

    expect(onlyOne(post.annotations)).toMatchObject({
      kind: 'warning',
      message: expect.stringContaining('sabotage at the end'),
    });
    expect(post).toMatchObject({ conclusion: 'success', exitCode: 0 });
    expectOnlyParentAlive(service);
  });
}

test.concurrent('a handle that stays open does not hold it up', async (context) => {
  const { service, runMode, runPost } = await setStage(context);

  const post = await runPost(await runMode('create-key'), { nodeArgs: sabotage('handle-stays-open') });

  expectQuiet(post);
  expect(post.ms).toBeLessThan(10_000);
  expectOnlyParentAlive(service);
});

test.concurrent.for(['list-keys', 'a refused create-key', 'create-key with bad inputs'])(
  'the post of %s starts nothing but Node',
  async (what, context) => {
    const { service, folder, runMode, runPost } = await setStage(context);
    if (what === 'a refused create-key') service.faults.add(always(says(403), 'create-key'));
    const main =
      what === 'list-keys'
        ? await runMode('list-keys')
        : await runMode('create-key', what.endsWith('bad inputs') ? { timeout: 'soon' } : {});
    const sent = service.requests.length;

    const record = join(folder, 'loaded');
    const code = `process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED, JSON.stringify({
    files: Object.keys(require.cache), modules: process.moduleLoadList })));`;
    const post = await runPost(main, { nodeArgs: fixture(folder, 'loads', code), env: { LOADED: record } });

    expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, output: '', summary: '', state: {} });
    expect(service.requests).toHaveLength(sent);
    const { files, modules } = JSON.parse(readFileSync(record, 'utf8')) as { files: string[]; modules: string[] };
    expect(files.map((file) => basename(file)).sort()).toEqual(['index.js', 'loads.cjs']);
    expect(modules.filter((name) => /^NativeModule (http|https|net|tls|crypto)$/.test(name))).toEqual([]);
  },
);

test.concurrent('a bundle of which a part is missing does not end green', async (context) => {
  const { folder, runMode, runPost } = await setStage(context);
  cpSync('action.yml', join(folder, 'action.yml'));
  cpSync('dist', join(folder, 'dist'), { recursive: true });
  rmSync(join(folder, 'dist', 'post', 'revoke-in-post.js'));
  const actionYml = join(folder, 'action.yml');

  const withKey = await runPost(await runMode('create-key'), { actionYml });
  const withoutKey = await runPost(await runMode('list-keys'), { actionYml });

  expect(withKey.exitCode).not.toBe(0);
  expect(withKey.conclusion).toBe('failure');
  expect(withoutKey).toMatchObject({ conclusion: 'success', exitCode: 0, output: '' });
});

test.concurrent('a summary that cannot be written changes nothing of the end', async (context) => {
  const { service, folder, runMode, runPost } = await setStage(context);

  const post = await runPost(await runMode('create-key', { 'on-revoke-failure': 'fail' }), {
    env: { GITHUB_STEP_SUMMARY: join(folder, 'nowhere', 'x') },
  });

  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0 });
  expect(onlyOne(warningsOf(post))).toMatch(/Could not write the summary/);
  expectOnlyParentAlive(service);
});

type Service = Stage['service'];

function expectOnlyParentAlive({ plane }: Service): void {
  expect(plane.aliveKeys().map(({ name }) => name)).toEqual(['console']);
}

/** What was to be done was done, and there is no ado about it. */
function expectQuiet(post: StepResult): void {
  expect(post.annotations).toEqual([]);
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, overran: false });
}

function expectWarned(post: StepResult, said: RegExp): void {
  expect(post.annotations.map(({ kind }) => kind)).toEqual(['warning']);
  expect(onlyOne(post.annotations).message).toMatch(said);
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, overran: false });
}

/** Main is killed while the service has made the key and says nothing. */
async function killedInFlight(service: Service, step: StepHandle): Promise<StepResult> {
  const before = service.requests.filter(({ endpoint }) => endpoint === 'create-key').length;
  const forget = service.faults.add(always({ kind: 'hang-before-headers' }, 'create-key'));
  await reach(step, service.arrived({ endpoint: 'create-key', n: before + 1 }));
  step.kill('SIGKILL');
  forget();
  return step.done;
}

function requestsAfter(service: Service, main: StepResult): Exchange[] {
  const lastCreate = service.requests.findLastIndex(({ body }) => body.includes(main.outputs['key-name'] ?? ''));
  return service.requests.slice(lastCreate + 1);
}

/** `DELETE 2 by 1` or `GET by 1`. */
function short({ method, path, keyId }: Exchange): string {
  return method === 'DELETE' ? `DELETE ${idIn(path)} by ${keyId}` : `${method} by ${keyId}`;
}

function idIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function sentTo(service: Service): string {
  return JSON.stringify(service.requests);
}

function onlyOne<T>(items: readonly T[]): T {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) throw new Error(`expected one, found ${JSON.stringify(items)}`);
  return item;
}

function withoutMasks({ stdout, stderr }: StepResult): string {
  return stdout.replace(/^::add-mask::.*$/gm, '') + stderr;
}

/** Arguments of Node that load this code before the action. */
function fixture(folder: string, name: string, code: string): readonly string[] {
  const path = join(folder, `${name}.cjs`);
  if (!existsSync(path)) writeFileSync(path, code);
  return ['--require', path];
}

/** Five of the action's seconds pass in one: what lasts 20 s by design ends after 4. */
function inHaste(folder: string): readonly string[] {
  return fixture(
    folder,
    'haste',
    `const uptime = process.uptime.bind(process);
    process.uptime = () => uptime() * 3;
    const later = globalThis.setTimeout;
    globalThis.setTimeout = (call, ms, ...rest) => later(call, ms / 3, ...rest);`,
  );
}
