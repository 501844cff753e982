import { describe, expect, test } from 'vitest';
import type { ApiKey, Fault } from '../../control-plane/index.js';
import { hang, lost, onCreate, onDelete, onList, retryAfter, status } from '../kit/fault.js';
import {
  type FinishedJob,
  type JobPlan,
  type KeyStage,
  killAt,
  noLeftovers,
  parentKey,
  runJob,
} from '../kit/key-stage.js';
import { second } from '../kit/wait.js';
import type { StepOptions } from '../runner/step.js';

const always = {};

/** A create whose response is lost. Main then gets a key by a second one. */
const ambiguous = (done: 'never' | { msAfterGivenUp: number }, nth = 1) => onCreate({ ...lost, done }, { nth });
/** Main is killed while the service creates its key. */
const killed: JobPlan = {
  inMain: [onCreate(hang)],
  duringMain: killAt({ endpoint: 'create-key' }),
};
const noParent: StepOptions = { inputs: { 'api-key': '' } };
/** Main has a key, and another one may be left. Post has no parent key. */
const orphaned: JobPlan = { inMain: [ambiguous('never')], post: noParent };

const mintedOf = ({ made }: KeyStage): ApiKey => made()[0] as ApiKey;
const addStray = (stage: KeyStage): ApiKey => stage.service.plane.addKey(mintedOf(stage).name);

/** Every key of the step is revoked, and post says nothing but that. */
function expectRevoked({ post, left, requests }: FinishedJob): void {
  expect(post).toMatchObject({ annotations: [], conclusion: 'success', exitCode: 0 });
  expect(left).toEqual(noLeftovers);
  expect(requests.filter((request) => /unknown|other/.test(request))).toEqual([]);
}

/** One warning, or one error, names the keys that are alive. */
function expectFailed({ post, left }: FinishedJob, message: RegExp, kind: 'warning' | 'error' = 'warning'): void {
  expect(post.annotations).toEqual([expect.objectContaining({ kind, message: expect.stringMatching(message) })]);
  expect(post).toMatchObject(
    kind === 'warning' ? { conclusion: 'success', exitCode: 0 } : { conclusion: 'failure', exitCode: 1 },
  );
  expect(left).toMatchObject({ unnamed: [], secretsShown: [], othersRevoked: [] });
}

describe('the minted key', () => {
  test('revokes itself at once, with one request; the summary has its id, name and lifetime', async (context) => {
    const job = await runJob(context, { beforePost: ({ pass }) => pass(90 * second) });
    expectRevoked(job);
    const { 'key-id': id, 'key-name': name } = job.main.outputs;
    expect([job.requests, job.sentAt]).toEqual([['DELETE minted by minted'], [0]]);
    const path = `/v2/api_keys/${id}`;
    expect(job.service.requests.at(-1)).toMatchObject({ path, body: '', headers: { accept: 'application/json' } });
    expect(job.post.summary).toMatch(new RegExp(`^### ✅ create-key: Key ${id} was revoked, 1m 30s after`));
    for (const text of [`<code>${id}</code>`, `<code>${name}</code>`, '<td>1m 30s</td>'])
      expect(job.post.summary).toContain(text);
  });

  test.for(['true', 'false'])('main says whether post writes a summary: %s', async (summary, context) => {
    const post = { inputs: { 'api-key': parentKey, summary: summary === 'true' ? 'false' : 'true' } };
    const job = await runJob(context, { inputs: { summary }, post });
    expectRevoked(job);
    expect(job.post.summary !== '').toBe(summary === 'true');
  });

  test('is revoked although the summary cannot be written', async (context) => {
    const post = { env: { GITHUB_STEP_SUMMARY: 'nowhere/x' } };
    const job = await runJob(context, { inputs: { 'on-revoke-failure': 'fail' }, post });
    expectFailed(job, /Could not write the summary/);
    expect(job.left.alive).toEqual([]);
  });
});

describe('the parent key', () => {
  test.for([400, 403, 422])('revokes the minted key if the service rejects that with %i', async (code, context) => {
    const job = await runJob(context, { inPost: [onDelete(status(code))] });
    expectRevoked(job);
    expect(job.requests).toEqual(['DELETE minted by minted', 'GET by parent', 'DELETE minted by parent']);
  });

  test('may come to post by CTL_API_KEY', async (context) => {
    const post = { inputs: {}, env: { CTL_API_KEY: parentKey } };
    expectRevoked(await runJob(context, { inPost: [onDelete(status(403))], post }));
    expectRevoked(await runJob(context, { ...killed, post }));
  });

  test.for(['', 'a-key-of-another-step', parentKey.slice(0, 20)])('is not replaced by “%s”', async (key, context) => {
    const plan = { inputs: { 'on-revoke-failure': 'fail' }, post: { inputs: { 'api-key': key } } };
    const job = await runJob(context, { ...plan, inPost: [onDelete(status(403), always)] });
    expectFailed(job, new RegExp(`The service says 403.*key-id: ${job.main.outputs['key-id']}`, 's'), 'error');
    expect(job.requests).toEqual(['DELETE minted by minted']);
  });
});

describe('a key is gone', () => {
  const self = 'DELETE minted by minted';
  const list = 'GET by parent';
  const handover = [self, list, 'DELETE minted by parent'];
  const revokeFirst: JobPlan = { beforePost: (stage) => stage.service.plane.revokeKey(mintedOf(stage).id) };
  const withDone = (code: number, body?: string) =>
    onDelete(status(code, { done: 'now', ...(body === '' ? { body } : {}) }));
  const notRevoked = onDelete(status(200, { body: '{"revoked":false}' }));
  const lastLost = [onDelete(status(403)), onDelete(status(503, { done: 'now' }), { nth: 2 })];
  test.for<[what: string, plan: JobPlan, requests: string[]]>([
    ['its own 401 and the list say so', revokeFirst, [self, list]],
    ['its own 401 says so, without the parent key', { ...revokeFirst, post: noParent }, [self]],
    ['its own 401 after a lost response and the list say so', { inPost: [onDelete(lost)] }, [self, self, list]],
    ['its own 401 after a lost response says so, alone', { inPost: [onDelete(lost)], post: noParent }, [self, self]],
    ['a 204 and the list say so', { inPost: [withDone(204, '')] }, [self, 'GET by minted', list]],
    ['its 403 and the list of the parent key say so', { inPost: [withDone(403)] }, [self, list]],
    ["the parent key's 404 after a 503 says so", { inPost: lastLost }, [...handover, 'DELETE minted by parent']],
    ['the second attempt says so, after a false 401', { inPost: [onDelete(status(401))] }, handover],
    [
      'the second attempt says so, after a false 404',
      { inPost: [onDelete(status(404))] },
      [self, 'GET by minted', list, 'DELETE minted by parent'],
    ],
    ['the second attempt says so, after revoked: false', { inPost: [notRevoked] }, [self, 'GET by minted', self]],
  ])('if %s', async ([, plan, requests], context) => {
    const job = await runJob(context, plan);
    expectRevoked(job);
    expect(job.requests).toEqual(requests);
    expect(job.post.summary).toMatch(/^### ✅/);
    if (plan.beforePost !== undefined) expect(job.post.summary).toMatch(/already gone/);
  });

  const notFound = onDelete(status(404), always);
  const incomplete = onList(status(200, { body: '[]', headers: { link: '</v2/api_keys?page=2>; rel="next"' } }));
  test.for<[what: string, plan: JobPlan]>([
    ['a 404 that the list contradicts', { inPost: [notFound] }],
    ['a page with 401', { inPost: [onDelete({ kind: 'html', status: 401 }, always)] }],
    ['a 404 to every request, as from a wrong URL', { inPost: [{ fault: status(404) }] }],
    ['a 404 and an incomplete list', { post: noParent, inPost: [notFound, incomplete] }],
    ['a 401 to both keys while the list shows it', { inPost: [onDelete(status(401), always)] }],
  ])('is not concluded from %s', async ([, plan], context) => {
    const job = await runJob(context, plan);
    const id = job.main.outputs['key-id'];
    expectFailed(job, new RegExp(`^Could not confirm that key ${id} .*key-id: ${id}`, 's'));
    expect(job.left.alive).toEqual([id]);
    expect(job.post.summary).toContain(`key-id: ${id}`);
  });

  test.for([403, 404, undefined])('if its id has another name: that key is not touched (%s)', async (code, context) => {
    for (const inMain of [[], [ambiguous('never')]]) {
      const job = await runJob(context, {
        inMain,
        beforePost: (stage) => stage.service.plane.reuseId(mintedOf(stage).id, 'of another tool'),
        inPost: code === undefined ? [] : [onDelete(status(code))],
      });
      expect(job.post.annotations).toEqual([]);
      expect(job.post.summary).toMatch(/already gone/);
      expect(job.requests.filter((request) => /^DELETE .* by parent$/.test(request))).toEqual([]);
      expect(job.service.plane.aliveKeys('of another tool')).toHaveLength(1);
    }
  });
});

describe.for(['warn', 'fail'] as const)('a failed revocation with on-revoke-failure: %s', (onFailure) => {
  const kind = onFailure === 'warn' ? 'warning' : 'error';
  const inputs = { 'on-revoke-failure': onFailure };

  test('names the key and how to revoke it, whatever inputs post gets', async (context) => {
    const post = { inputs: { 'api-key': parentKey, 'on-revoke-failure': 'wran' } };
    const job = await runJob(context, { inputs, post, inPost: [onDelete(status(403), always)] });
    const { 'key-id': id, 'key-name': name } = job.main.outputs;
    const message = `^Could not confirm that key ${id} \\(${name}\\).* 403\\..*mode: revoke-key and key-id: ${id}\\b`;
    expectFailed(job, new RegExp(message), kind);
    expect(job.post.summary).toMatch(onFailure === 'warn' ? /^### ⚠️/ : /^### ❌/);
    expect(job.post.summary).toContain(`that key ${id} `);
    expect(job.requests).toEqual(['DELETE minted by minted', 'GET by parent', 'DELETE minted by parent']);
  });

  test('names the name if no id is known, and sends nothing without the parent key', async (context) => {
    const post = { inputs: { 'api-key': 'a-key-of-another-step' } };
    const job = await runJob(context, { ...killed, inputs, post });
    expectFailed(job, new RegExp(`key-name: ${mintedOf(job).name}.*sweep-keys revokes it once this run is over`), kind);
    expect([job.requests, job.post.ms]).toEqual([[], 0]);
  });
});

describe('post has 20 s', () => {
  test('and one exchange has at most 5 s', async (context) => {
    const job = await runJob(context, { inPost: [onDelete({ kind: 'hang-before-headers', done: 'never' }, always)] });
    expectFailed(job, /No complete response within [\d.]+s/);
    expect(job.post.output + job.post.summary).not.toContain('request-timeout');
    expect(job.post.ms).toBe(20 * second);
    const attempts = job.service.requests.slice(-job.requests.length);
    expect(attempts.length).toBeGreaterThan(3);
    expect(Math.max(...attempts.map(({ at, endedAt = at }) => endedAt - at))).toBe(5 * second);
  });

  const minted = /^Could not confirm that key (\d+) .*key-id: \1/s;
  test.for<[what: string, plan: JobPlan, message: RegExp]>([
    ['a 429', { inPost: [onDelete(retryAfter(429, 25), always)] }, minted],
    ['a 423 with a date', { inPost: [onDelete(status(423, { retryAfter: { dateInSeconds: 60 } }), always)] }, minted],
    ['a 503 for the parent key that searches', { ...killed, inPost: [onList(retryAfter(503, 60))] }, /key-name: shop-/],
    ['a 429 for the minted key that searches', { ...orphaned, inPost: [onList(retryAfter(429, 60))] }, minted],
  ])('a Retry-After beyond them ends post at once: %s', async ([, plan, message], context) => {
    const job = await runJob(context, plan);
    expectFailed(job, message);
    expect([job.requests.length, job.post.ms]).toEqual([1, 0]);
  });

  test.for([423, 429, 503])('a Retry-After of a %i within them is kept', async (code, context) => {
    const job = await runJob(context, { inPost: [onDelete(retryAfter(code, 12))] });
    expectRevoked(job);
    expect(job.sentAt).toEqual([0, 12 * second]);
  });
});

describe('after an ambiguous create', () => {
  test('all keys of exactly that name are revoked, the minted key last, then the parent key searches on', async (context) => {
    const inMain = [ambiguous({ msAfterGivenUp: 3_000 }), ambiguous({ msAfterGivenUp: 5_000 }, 2)];
    const job = await runJob(context, { inMain });
    expectRevoked(job);
    expect(job.made()).toHaveLength(3);
    const deletes = ['DELETE stray by minted', 'DELETE stray by minted', 'DELETE minted by minted'];
    expect(job.requests.filter((request) => request.startsWith('DELETE'))).toEqual(deletes);
    const last = job.requests.indexOf('DELETE minted by minted');
    expect(new Set(job.requests.slice(0, last))).toEqual(new Set(['GET by minted', 'DELETE stray by minted']));
    expect(new Set(job.requests.slice(last + 1))).toEqual(new Set(['GET by parent']));
    expect(job.sentAt[last]).toBeGreaterThan(15 * second);
    expect(job.sentAt.at(-1)).toBeGreaterThanOrEqual(18.5 * second);
    expect(job.post.ms).toBeLessThanOrEqual(20 * second);
    for (const { id } of job.made()) {
      expect(job.post.summary).toContain(`<code>${id}</code>`);
      expect(job.post.log).toContain(`Key ${id} was revoked`);
    }
  });

  const late: Fault = { kind: 'hang-before-headers', done: { msAfterGivenUp: 4_000 } };
  const cancelled: JobPlan['duringMain'] = async (main, stage) => stage.after(500, () => void main.cancel());
  const lateStray = [ambiguous({ msAfterGivenUp: 3_000 })];
  const slowList = [onList({ kind: 'delay', ms: 4_000 })];
  const renamed: JobPlan['beforePost'] = (stage) => Object.assign(mintedOf(stage), { name: 'renamed' });
  test.for<[what: string, plan: JobPlan, aliveBetween: number, made: number]>([
    ['one takes effect after the deadline of main', { inMain: [onCreate(late)], inputs: { timeout: '3s' } }, 0, 1],
    ['one takes effect after a kill of main', { ...killed, inMain: [onCreate(late)] }, 0, 1],
    ['one takes effect after a cancel of main', { inMain: [onCreate(late)], duringMain: cancelled }, 0, 1],
    ['the minted key may not search', { inMain: lateStray, inPost: [{ nth: 1, fault: status(403) }] }, 1, 2],
    ['the list shows the minted key that reads it under another name', { ...orphaned, beforePost: renamed }, 1, 1],
    ['the minted key, alone, is rejected once', { ...orphaned, inPost: [onDelete(status(403))] }, 1, 1],
    ['a list takes 4 s, for the parent key', { ...killed, inPost: slowList }, 1, 1],
    ['a list takes 4 s, for the minted key', { inMain: lateStray, inPost: slowList, post: noParent }, 1, 2],
  ])('all keys are revoked and shown if %s', async ([, plan, aliveBetween, made], context) => {
    const job = await runJob(context, plan);
    expectRevoked(job);
    expect([job.aliveBetween.length, job.made().length]).toEqual([aliveBetween, made]);
    for (const { id } of job.made()) expect(job.post.summary).toContain(`<code>${id}</code>`);
  });

  test('revoke-in-post: false keeps the minted key alone', async (context) => {
    const inMain = [ambiguous({ msAfterGivenUp: 4_000 })];
    const job = await runJob(context, { inMain, inputs: { 'revoke-in-post': 'false' } });
    expect(job.post.annotations).toEqual([]);
    expect(job.made()).toHaveLength(2);
    expect(job.left.alive).toEqual([job.main.outputs['key-id']]);
    expect(job.post.summary).not.toContain(`<code>${job.main.outputs['key-id']}</code>`);
  });

  test.for([
    ['true', 'run', 'sweep-keys revokes it once this run is over'],
    ['false', 'kept', 'sweep-keys does not revoke it'],
  ])('a rejected search is a warning with the name (revoke-in-post: %s)', async ([revoke, word, advice], context) => {
    const plan = { inMain: [ambiguous('never')], inPost: [onList(status(403))] };
    const job = await runJob(context, { ...plan, inputs: { 'revoke-in-post': revoke } });
    expectFailed(job, new RegExp(`^A key named shop-${word}.* may still exist: .*The service says 403.*${advice}`));
    expect(job.post.ms).toBeLessThan(10 * second);
    expect(job.left.alive).toEqual(revoke === 'true' ? [] : [job.main.outputs['key-id']]);
  });

  test('the minted key is revoked 4 s before the end although a search hangs', async (context) => {
    const beforePost = ({ after, service }: KeyStage) => after(12 * second, () => service.faults.add(onList(hang)));
    const job = await runJob(context, { ...orphaned, beforePost });
    expectRevoked(job);
    expect([job.requests.at(-1), job.sentAt.at(-1)]).toEqual(['DELETE minted by minted', 16 * second]);
  });

  test.for<[what: string, plan: JobPlan, fault: Fault, left: 0 | 1]>([
    ['the second is locked', { inMain: [ambiguous('never')] }, retryAfter(423, 1), 1],
    ['the DELETE of the second hangs', orphaned, { ...hang, done: 'never' }, 1],
    ['the first gets 409', killed, status(409), 0],
    ['the first gets 500', killed, status(500), 0],
  ])('of two keys, one that cannot be revoked does not protect the other: %s', async (row, context) => {
    const [, plan, fault, left] = row;
    const beforePost = (stage: KeyStage) => {
      // As by a proxy that sends the request twice.
      addStray(stage);
      stage.service.faults.add({ path: `/api_keys/${stage.made()[left]?.id}`, fault });
    };
    const job = await runJob(context, { ...plan, beforePost });
    expect(job.left).toEqual({ ...noLeftovers, alive: [job.made()[left]?.id] });
  });

  test('a 423 for one key does not delay the search for others', async (context) => {
    const beforePost = (stage: KeyStage) => {
      stage.service.faults.add({ path: `/api_keys/${mintedOf(stage).id}`, fault: retryAfter(423, 15) });
      stage.after(2 * second, () => addStray(stage));
    };
    const job = await runJob(context, { ...killed, beforePost });
    expect(job.left).toEqual({ ...noLeftovers, alive: [mintedOf(job).id] });
    const deletes = job.sentAt.filter((_, n) => job.requests[n] === 'DELETE stray by parent');
    expect(deletes.filter((ms) => ms < 15 * second)).toEqual([0, expect.toSatisfy((ms: number) => ms < 5 * second)]);
  });

  test('a revoked parent key does not end the search', async (context) => {
    const beforePost = (stage: KeyStage) => {
      stage.service.plane.revokeKey(stage.service.plane.aliveKeys('console')[0]?.id ?? '');
      stage.after(1_000, () => addStray(stage));
    };
    const job = await runJob(context, { inMain: [ambiguous('never')], beforePost });
    expect(job.made()).toHaveLength(2);
    expect(job.left).toEqual({ ...noLeftovers, othersRevoked: ['console'] });
  });

  test('a stray whose id has another name by now is not touched again', async (context) => {
    const beforePost = (stage: KeyStage) => {
      const { id } = addStray(stage);
      stage.service.faults.add({ path: `/api_keys/${id}`, nth: 1, fault: status(503) });
      stage.after(100, () => stage.service.plane.reuseId(id, 'of another tool'));
    };
    const job = await runJob(context, { ...orphaned, beforePost });
    expect(job.post.annotations).toEqual([]);
    expect(job.requests.filter((request) => /^DELETE/.test(request))).toHaveLength(2);
    expect(job.service.plane.aliveKeys('of another tool')).toHaveLength(1);
  });

  test('an incomplete list leads to the keys that it shows, and is a warning', async (context) => {
    const beforePost = (stage: KeyStage) => {
      const { id, name } = addStray(stage);
      const body = `[{"id":${id},"name":"${name}"}]`;
      stage.service.faults.add(onList(status(200, { body, headers: { 'x-next-cursor': 'abc' } })));
    };
    const job = await runJob(context, { ...orphaned, beforePost });
    expectFailed(job, /reports more keys than it contains/);
    expect(job.left.alive).toEqual([]);
  });

  test.for<[fault: Fault, seconds: number, ofDelete: number]>([
    [retryAfter(423, 9), 9, 404],
    [status(429), 0.25, 503],
  ])('a list that gets %o delays all requests by %d s', async ([fault, seconds, ofDelete], context) => {
    const inPost = [onDelete(status(ofDelete)), onList(fault, { nth: 2 })];
    const job = await runJob(context, { ...orphaned, inPost, beforePost: (stage) => void addStray(stage) });
    expectRevoked(job);
    const at = job.service.requests
      .slice(-job.requests.length)
      .findIndex((sent) => sent.fault === 'status' && sent.endpoint === 'list-keys');
    expect(at).toBeGreaterThan(0);
    expect(job.sentAt[at + 1]).toBeGreaterThanOrEqual((job.sentAt[at] ?? 0) + seconds * second);
  });
});

describe('in a nested composite, where post gets inputs of another step', () => {
  const [key, baseUrl] = ['ctl_4u6tyr0wqz81mvbn37xkdjsh5g92lfpa', 'https://other.test/v2'];
  const others = { mode: 'revoke-key', 'key-id': '1', 'api-key': key, 'base-url': baseUrl };
  const given: readonly (readonly [what: string, post: StepOptions])[] = [
    ['no inputs', { inputs: {} }],
    ['all inputs of a revoke-key', { inputs: { ...others, timeout: '1ms', summary: 'no' } }],
    ['another environment', { inputs: {}, env: { CTL_API_KEY: key, CTL_BASE_URL: baseUrl } }],
    ['the parent key and another base-url', { inputs: { 'api-key': parentKey, 'base-url': baseUrl } }],
  ];
  test.for([
    ...given.map(([what, post]) => ['a key', what, { post } as JobPlan] as const),
    ...given.map(([what, post]) => ['only its intent', what, { ...killed, post }] as const),
  ])('nothing of them is sent anywhere: main left %s, post gets %s', async ([, name, plan], context) => {
    const job = await runJob(context, plan);
    expect(job.elsewhere).toEqual([]);
    expect(job.post.output + JSON.stringify(job.service.requests)).not.toContain(key);
    if (plan.duringMain === undefined || name.startsWith('the parent key')) return expectRevoked(job);
    // Post has no key to search with.
    expect(job.requests).toEqual([]);
    expectFailed(job, new RegExp(mintedOf(job).name));
    expect(job.post.summary).toContain(mintedOf(job).name);
  });
});
