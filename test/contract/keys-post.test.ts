import { describe, expect, type TestContext, test } from 'vitest';
import type { ApiKey, Fault, FaultRule } from '../../control-plane/index.js';
import { delay, hang, lost, onCreate, onDelete, onList, retryAfter, status } from '../kit/fault.js';
import type { FinishedJob, JobPlan, KeyStage } from '../kit/key-stage.js';
import { killAt, noLeftovers, parentKey, runJob } from '../kit/key-stage.js';
import { between, second } from '../kit/times.js';
import type { StepOptions } from '../runner/step.js';

const always = {};
const neverDone: Fault = { ...hang, done: 'never' };
const controlUrl = 'https://control.test/v2';

/** A create whose response is lost. Main then gets a key by a second one. */
const ambiguous = (done: 'never' | { msAfterGivenUp: number }, nth = 1) => onCreate({ ...lost, done }, { nth });
/** Main is killed while the service creates its key. */
const killed: JobPlan = { inMain: [onCreate(hang)], duringMain: killAt({ endpoint: 'create-key' }) };
const noParent: StepOptions = { inputs: { 'api-key': '', 'base-url': controlUrl } };
/** Main has a key, and another one may be left. Post has no parent key. */
const orphaned: JobPlan = { inMain: [ambiguous('never')], post: noParent };

const self = 'DELETE minted by minted';
const handover = [self, 'GET by parent', 'DELETE minted by parent'];
const incomplete = onList(status(200, { body: '[]', headers: { link: '</v2/api_keys?page=2>; rel="next"' } }));

const mintedOf = ({ made }: KeyStage): ApiKey => made()[0] as ApiKey;
/** The id of the minted key gets another name. */
const reuse = (stage: KeyStage) => stage.service.plane.reuseId(mintedOf(stage).id, 'of another tool');
const rename = (stage: KeyStage) => Object.assign(mintedOf(stage), { name: 'of another tool' });
const revokeMinted = (stage: KeyStage) => stage.service.plane.revokeKey(mintedOf(stage).id);
const addStray = (stage: KeyStage): ApiKey => stage.service.plane.addKey(mintedOf(stage).name);

const mayBeCreated = warning(/^A key named shop-\S+( other than key \d+)? may still be created: .*no usable response/);

function warning(message: RegExp) {
  return expect.objectContaining({ kind: 'warning', message: expect.stringMatching(message) });
}

/** Every key of the step is revoked. Post warns of a create that made no key, and says nothing else. */
function expectRevoked({ post, left, requests, made, service }: FinishedJob, doubts: readonly unknown[] = []): void {
  const creates = service.requests.filter(({ endpoint }) => endpoint === 'create-key');
  const annotations = [...(made().length < creates.length ? [mayBeCreated] : []), ...doubts];
  expect(post).toMatchObject({ annotations, conclusion: 'success', exitCode: 0 });
  expect(left).toEqual(noLeftovers);
  expect(requests.filter((request) => /unknown|other/.test(request))).toEqual([]);
}

async function runRevoked(context: TestContext, plan: JobPlan): Promise<FinishedJob> {
  const job = await runJob(context, plan);
  expectRevoked(job);
  return job;
}

/** One warning, or one error, names the keys that are alive. */
function expectFailed({ post, left }: FinishedJob, message: RegExp, kind: 'warning' | 'error' = 'warning'): void {
  expect(post.annotations).toEqual([expect.objectContaining({ kind, message: expect.stringMatching(message) })]);
  expect([post.conclusion, post.exitCode]).toEqual(kind === 'warning' ? ['success', 0] : ['failure', 1]);
  expect(left).toMatchObject({ unnamed: [], secretsShown: [], othersRevoked: [] });
}

test('post revokes the minted key at once, by a single request with that key', async (context) => {
  const job = await runRevoked(context, { beforePost: ({ pass }) => pass(90 * second) });
  const { 'key-id': id, 'key-name': name } = job.main.outputs;
  expect([job.requests, job.sentAt]).toEqual([[self], [0]]);
  const path = `/v2/api_keys/${id}`;
  expect(job.service.requests.at(-1)).toMatchObject({ path, body: '', headers: { accept: 'application/json' } });
  expect(job.post.summary).toMatch(new RegExp(`^### ✅ create-key: Key ${id} was revoked, 1m 30s after`));
  for (const text of [`<code>${id}</code>`, `<code>${name}</code>`, '<td>1m 30s</td>'])
    expect(job.post.summary).toContain(text);
});

test.for(['true', 'false'])('post takes summary: %s from main, not from its own input', async (summary, context) => {
  const post = { inputs: { 'api-key': parentKey, summary: summary === 'true' ? 'false' : 'true' } };
  const job = await runRevoked(context, { inputs: { summary }, post });
  expect(job.post.summary !== '').toBe(summary === 'true');
});

test('post revokes the minted key even if it cannot write the summary', async (context) => {
  const post = { env: { GITHUB_STEP_SUMMARY: 'nowhere/x' } };
  const job = await runJob(context, { inputs: { 'on-revoke-failure': 'fail' }, post });
  expectFailed(job, /Could not write the summary/);
  expect(job.left.alive).toEqual([]);
});

test.for<[what: string, ...inPost: FaultRule[]]>([
  ...[400, 403, 404, 422].map((code): [string, FaultRule] => [`the minted key gets a ${code}`, onDelete(status(code))]),
  ['the minted key gets a 403 and the list gets one, too', onDelete(status(403)), onList(status(403))],
])('post uses the parent key if %s', async ([, ...inPost], context) => {
  const job = await runRevoked(context, { inPost });
  expect(job.requests).toEqual(handover);
});

test('post retries after a 404 and an incomplete list, because a replica may not know the key yet', async (context) => {
  const job = await runRevoked(context, { inPost: [onDelete(status(404), { from: 1, count: 6 }), incomplete] });
  expect(job.post.ms).toBeGreaterThan(second);
});

test('post accepts the parent key from CTL_API_KEY, and masks it', async (context) => {
  for (const plan of [{ inPost: [onDelete(status(403))] }, killed]) {
    const job = await runRevoked(context, { ...plan, post: { inputs: {}, env: { CTL_API_KEY: parentKey } } });
    expect(job.post.masks).toContain(parentKey);
  }
});

const list = 'GET by parent';
const revokeFirst: JobPlan = { beforePost: revokeMinted };
const withDone = (code: number, body?: string) =>
  onDelete(status(code, { done: 'now', ...(body === '' ? { body } : {}) }));
const notRevoked = onDelete(status(200, { body: '{"revoked":false}' }));
const lastLost = [onDelete(status(403)), onDelete(status(503, { done: 'now' }), { nth: 2 })];
type Evidence = readonly [what: string, plan: JobPlan, requests: readonly string[]];
const absence: readonly Evidence[] = [
  ['the list and a 401 for the minted key', revokeFirst, [self, list]],
  ['a 401 for the minted key (no parent key)', { ...revokeFirst, post: noParent }, [self]],
  ['the list and a 401 after a lost response', { inPost: [onDelete(lost)] }, [self, self, list]],
  ['a 401 after a lost response (no parent key)', { inPost: [onDelete(lost)], post: noParent }, [self, self]],
  ['the list and a 204', { inPost: [withDone(204, '')] }, [self, self, list]],
  ['the list and a 403 for the minted key', { inPost: [withDone(403)] }, [self, list]],
  ['the list and a 401 after a 503 for the parent key', { inPost: lastLost }, [...handover, self, list]],
];
const success: readonly Evidence[] = [
  ['a success after a false 401', { inPost: [onDelete(status(401))] }, handover],
  ['a success after revoked: false', { inPost: [notRevoked] }, [self, self]],
];
const ofAge = (seconds: number, { beforePost, ...plan }: JobPlan): JobPlan => ({
  ...plan,
  beforePost: async (stage, main) => {
    await stage.pass(seconds * second);
    await beforePost?.(stage, main);
  },
});
test.for<readonly [age: number, ...Evidence]>([
  ...absence.map((row) => [60, ...row] as const),
  ...success.map((row) => [0, ...row] as const),
])('post takes a key of %i s as gone at once (evidence: %s)', async ([age, , plan, requests], context) => {
  const job = await runRevoked(context, ofAge(age, plan));
  expect(job.requests).toEqual(requests);
  expect(job.post.ms).toBeLessThan(second);
  expect(job.post.summary).toMatch(/^### ✅/);
  if (plan.beforePost !== undefined) expect(job.post.summary).toMatch(/already gone/);
});

test.for(absence)('post takes a key of 59 s as gone only after 10 s (evidence: %s)', async ([, plan], context) => {
  const job = await runRevoked(context, ofAge(59, plan));
  expect(job.post.ms).toEqual(between(10 * second, 12.5 * second));
  expect(job.requests.length).toBeLessThanOrEqual(30);
});

const nothing = onList(status(200, { body: '[]' }));
test.for<[what: string, faults: FaultRule[], post?: StepOptions]>([
  ['401 and a list without the key', [onDelete(status(401), always), nothing]],
  ['404 and a list without the key', [onDelete(status(404), always), nothing]],
  ['204 and a list without the key', [onDelete(status(204, { body: '' }), always), nothing]],
  ['404 after a 503', [onDelete(status(503)), onDelete(status(404), always), nothing]],
  ['401, without a parent key', [onDelete(status(401), always)], noParent],
])('post revokes a new key even if a replica answers with %s for 9.9 s', async ([, inPost, post], context) => {
  const beforePost = (stage: KeyStage) => stage.after(9.9 * second, () => stage.service.faults.clear());
  const job = await runRevoked(context, { inPost, beforePost, ...(post && { post }) });
  expect(job.post.ms).toEqual(between(9.901 * second, 12.5 * second));
  expect(job.requests.at(-1)).toBe(self);
});

/** Between two moments of post, requests and responses take this long. Then they take no time, and faults are over. */
function slowBetween(from: number, to: number, slowTrip: () => number) {
  let isSlow = false;
  const begin = (stage: KeyStage) => {
    stage.after(from, () => {
      isSlow = true;
    });
    stage.after(to, () => {
      isSlow = false;
      stage.service.faults.clear();
    });
  };
  return { trip: () => (isSlow ? slowTrip() : 0), beforePost: begin };
}

test('post treats a key as new even if the key becomes a minute old while post searches', async (context) => {
  const beforePost = ({ after, pass, service }: KeyStage) => {
    after(65 * second, () => {
      for (const rule of [onDelete(status(401), always), onList(status(200, { body: '[]' }))]) service.faults.add(rule);
    });
    after(69 * second, () => service.faults.clear());
    return pass(50 * second);
  };
  const job = await runRevoked(context, { inMain: [ambiguous('never')], beforePost });
  expect(job.post.summary).not.toMatch(/already gone/);
});

test('a response that comes after 10 s does not prove a new key gone if its request was sent earlier', async (context) => {
  let trips = 0;
  // A request and its response take a trip each.
  const slow = slowBetween(7 * second, 9.9 * second, () => (trips++ % 2 === 1 ? 4.9 * second : 0));
  const job = await runRevoked(context, { inPost: [onDelete(status(401), always)], post: noParent, ...slow });
  expect(job.post.ms).toBeGreaterThan(11.9 * second);
  expect(job.requests.at(-1)).toBe(self);
  expect(job.post.summary).not.toMatch(/already gone/);
});

test('lists that lack a new key do not prove it gone if all were requested within 10 s', async (context) => {
  const oneTrip = 2.49 * second;
  const { trip, beforePost } = slowBetween(13 * second, 17 * second, () => oneTrip);
  const job = await runRevoked(context, {
    ...killed,
    inPost: [onDelete(status(404), always)],
    trip,
    beforePost: (stage) => {
      stage.after(4.5 * second, () => stage.service.faults.add(nothing));
      beforePost(stage);
    },
  });
  // No further list follows, and this one was asked for less than 10 s after the first that lacked the key.
  expect(job.requests.slice(-2)).toEqual(['GET by parent', 'DELETE stray by parent']);
  expect(job.sentAt.at(-2)).toBeLessThan(4.5 * second + 10 * second + oneTrip);
});

test('if a list shows a new key again after it was missing, post needs another 10 s to take the key as gone', async (context) => {
  const beforePost = (stage: KeyStage) => {
    stage.after(3 * second, stage.service.faults.add(nothing));
    stage.after(7 * second, () => revokeMinted(stage));
  };
  const job = await runRevoked(context, { inPost: [onDelete(status(401), always)], beforePost });
  expect(job.post.ms).toBeGreaterThanOrEqual(17 * second);
});

const notFound = onDelete(status(404), always);
test.for<[what: string, plan: JobPlan]>([
  ['a 404 that the list contradicts', { inPost: [notFound] }],
  ...[401, 403, 404].map((code): [string, JobPlan] => [
    `an HTML page with ${code}, with or without a parent key`,
    { inPost: [onDelete({ kind: 'html', status: code }, always)], ...(code === 403 ? {} : { post: noParent }) },
  ]),
  ['a 404 and a list without the key, if the minted key itself asks', { post: noParent, inPost: [notFound, nothing] }],
  ['a 404 for the minted key after a 503', { post: noParent, inPost: [onDelete(status(503)), notFound] }],
  ['a 404 for every request', { inPost: [{ fault: status(404) }] }],
  ['a 404 and an incomplete list', { post: noParent, inPost: [notFound, incomplete] }],
  ['a 401 for both keys if the list shows the key', { inPost: [onDelete(status(401), always)] }],
])('post does not take a key as gone after %s', async ([, plan], context) => {
  const job = await runJob(context, plan);
  const id = job.main.outputs['key-id'];
  expectFailed(job, new RegExp(`^Could not confirm that key ${id} .*key-id: ${id}`, 's'));
  expect(job.left.alive).toEqual([id]);
  expect(job.post.summary).toContain(`key-id: <code>${id}</code>`);
});

test.for([401, 403, 404])('after a %i, post spares a new key with the id of the minted key', async (code, context) => {
  for (const inMain of [[], [ambiguous('never')]]) {
    const inPost = code === 401 ? [] : [onDelete(status(code))];
    const job = await runJob(context, { inMain, inPost, beforePost: reuse });
    expect(job.post.annotations).toEqual(inMain.length > 0 ? [mayBeCreated] : []);
    expect(job.post.summary).toMatch(/already gone/);
    expect(job.requests.filter((request) => /^DELETE .* by parent$/.test(request))).toEqual([]);
    if (inMain.length === 0) expect(job.post.ms).toEqual(between(10 * second, 12 * second));
    expect(job.service.plane.aliveKeys('of another tool')).toHaveLength(1);
  }
});

test('a list that shows an older key with the same id does not show that a new key is gone', async (context) => {
  const body = '[{"id":9007199254740996,"name":"of another tool","created_at":"2020-01-31T09:00:00Z"}]';
  const job = await runRevoked(context, { inPost: [onDelete(status(401)), onList(status(200, { body }))] });
  expect(job.made()[0]?.id).toBe('9007199254740996');
});

test.for([
  [500, 'only in the last 4 s of post'],
  [429, 'at no time'],
] as const)('if all lists get a %i, a DELETE by the parent key is sent %s', async ([code], context) => {
  const job = await runJob(context, { inPost: [onDelete(status(403), always), onList(status(code), always)] });
  expect(job.requests.indexOf('DELETE minted by parent')).toBe(code === 500 ? job.requests.length - 1 : -1);
  expect(job.sentAt.at(-1)).toBeGreaterThanOrEqual(16 * second);
});

describe.for(['warn', 'fail'] as const)('after a failed revocation with on-revoke-failure: %s,', (onFailure) => {
  const kind = onFailure === 'warn' ? 'warning' : 'error';
  const inputs = { 'on-revoke-failure': onFailure };

  test(`the ${kind} of post names the key and how to revoke it`, async (context) => {
    const post = { inputs: { 'api-key': parentKey, 'on-revoke-failure': 'wran' } };
    const job = await runJob(context, { inputs, post, inPost: [onDelete(status(403), always)] });
    const { 'key-id': id, 'key-name': name } = job.main.outputs;
    const message = `^Could not confirm that key ${id} \\(${name}\\).* 403\\..*mode: revoke-key and key-id: ${id}\\b`;
    expectFailed(job, new RegExp(message), kind);
    expect(job.post.summary).toMatch(onFailure === 'warn' ? /^### ⚠️/ : /^### ❌/);
    expect(job.post.summary).toContain(`that key <code>${id}</code> `);
    expect(job.requests).toEqual(handover);
  });

  test(`post gives the ${kind} if a new key is first found missing in the last 10 s of post`, async (context) => {
    const job = await runJob(context, { inputs, beforePost: revokeMinted, inPost: [onDelete(retryAfter(503, 11))] });
    expectFailed(job, /^Could not confirm that key \d+ .*timed out.* so new that a replica may not know it yet/, kind);
    expect(job.post.ms).toBe(20 * second);
  });

  test(`the ${kind} of post says why the parent key was not used`, async (context) => {
    const job = await runJob(context, { inputs, inPost: [onDelete(status(403), always)], post: noParent });
    expectFailed(job, /^Could not confirm that key \d+ .* 403.*; the API key of the main step is not available/, kind);
    expect(job.requests).toEqual([self]);
  });

  test(`the ${kind} of post gives the key name if the id is unknown`, async (context) => {
    const job = await runJob(context, { ...killed, inputs, post: { inputs: { 'api-key': 'a-key-of-another-step' } } });
    expectFailed(job, new RegExp(`key-name: ${mintedOf(job).name}.*sweep-keys revokes it once this run is over`), kind);
    expect([job.requests, job.post.ms]).toEqual([[], 0]);
  });
});

test('post gives up a request after 5 s, and ends after 20 s', async (context) => {
  const job = await runJob(context, { inPost: [onDelete(neverDone, always)] });
  expectFailed(job, /No complete response within [\d.]+s/);
  expect(job.post.ms).toBe(20 * second);
  const attempts = job.service.requests.slice(-job.requests.length);
  expect(attempts.length).toBeGreaterThan(3);
  expect(Math.max(...attempts.map(({ at, endedAt = at }) => endedAt - at))).toBe(5 * second);
});

const minted = /^Could not confirm that key (\d+) .*key-id: \1/s;
const kept: JobPlan = { inMain: [ambiguous('never')], inputs: { 'revoke-in-post': 'false' } };
test.for<[what: string, plan: JobPlan, message: RegExp]>([
  ['a 429', { inPost: [onDelete(retryAfter(429, 25), always)] }, minted],
  ['a 423 (as a date)', { inPost: [onDelete(status(423, { retryAfter: { dateInSeconds: 60 } }), always)] }, minted],
  ['a 503 to a search by the parent key', { ...killed, inPost: [onList(retryAfter(503, 60))] }, /key-name: shop-/],
  ['a 429 to a search by the minted key', { ...orphaned, inPost: [onList(retryAfter(429, 60))] }, minted],
  ['a 429 to a search with a kept key', { ...kept, inPost: [onList(retryAfter(429, 60))] }, /may still exist: .*429/],
])('post ends at once if the Retry-After of %s exceeds 20 s', async ([, plan, message], context) => {
  const job = await runJob(context, plan);
  expectFailed(job, message);
  expect([job.requests.length, job.post.ms]).toEqual([1, 0]);
});

test.for([423, 429, 503])('post waits 12 s if a %i asks for it', async (code, context) => {
  const job = await runRevoked(context, { inPost: [onDelete(retryAfter(code, 12))] });
  expect(job.sentAt).toEqual([0, 12 * second]);
});

test('after a lost create response, post revokes other keys of the step, then the minted key, then searches again', async (context) => {
  const inMain = [ambiguous({ msAfterGivenUp: 3_000 }), ambiguous({ msAfterGivenUp: 5_000 }, 2)];
  const job = await runRevoked(context, { inMain });
  expect(job.made()).toHaveLength(3);
  const deletes = ['DELETE stray by minted', 'DELETE stray by minted', self];
  expect(job.requests.filter((request) => request.startsWith('DELETE'))).toEqual(deletes);
  const last = job.requests.indexOf(self);
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

const late: Fault = { ...hang, done: { msAfterGivenUp: 4_000 } };
const cancelled: JobPlan['duringMain'] = async (main, stage) => stage.after(500, () => void main.cancel());
const lateStray = [ambiguous({ msAfterGivenUp: 3_000 })];
const slowList = [onList(delay(4_000))];
const silent204 = status(204, { body: '', done: 'now' });
const lagging: JobPlan = {
  inPost: [{ fault: status(401), count: 1 }, onDelete(status(401), always), nothing],
  beforePost: (stage) => stage.after(14 * second, () => stage.service.faults.clear()),
};
const foundAlive: JobPlan = { inMain: [onCreate(lost), onDelete(status(503), always)], inPost: [nothing] };
/** As if the response of the create had held the id of another key, which is gone by now. */
const strayAlone = (stage: KeyStage) => {
  addStray(stage);
  revokeMinted(stage);
};
test.for<[what: string, plan: JobPlan, aliveBetween: number, made: number]>([
  ['the key is created after the deadline of main', { inMain: [onCreate(late)], inputs: { timeout: '3s' } }, 0, 1],
  ['the key is created after a kill of main', { ...killed, inMain: [onCreate(late)] }, 0, 1],
  ['the key is created after a cancel of main', { inMain: [onCreate(late)], duringMain: cancelled }, 0, 1],
  ['the minted key gets a 403 for its search', { inMain: lateStray, inPost: [{ nth: 1, fault: status(403) }] }, 1, 2],
  ['the list shows the minted key under another name', { ...orphaned, beforePost: rename }, 1, 1],
  ['there is no parent key and one DELETE is rejected', { ...orphaned, inPost: [onDelete(status(403))] }, 1, 1],
  ['only the list confirms a DELETE', { ...killed, inPost: [onDelete(silent204, always)] }, 1, 1],
  ['somebody else revoked the minted key', { inMain: [ambiguous('never')], beforePost: revokeMinted }, 1, 1],
  ['a replica lags until the minted key should be gone', { inMain: [ambiguous('never')], ...lagging }, 1, 1],
  ['no list of post shows the key that main found', foundAlive, 1, 1],
  ['a search by the parent key takes 4 s', { ...killed, inPost: slowList }, 1, 1],
  ['a search by the minted key takes 4 s', { inMain: lateStray, inPost: slowList, post: noParent }, 1, 2],
])('post revokes every key and lists it in the summary if %s', async ([, plan, aliveBetween, made], context) => {
  const job = await runRevoked(context, plan);
  expect([job.aliveBetween.length, job.made().length]).toEqual([aliveBetween, made]);
  for (const { id } of job.made()) expect(job.post.summary).toContain(`<code>${id}</code>`);
});

test('post revokes the minted key only after the search with that key, even if a list shows the key', async (context) => {
  const job = await runRevoked(context, { inMain: lateStray, inPost: [onDelete(silent204, { count: 1 })] });
  expect(job.requests).toContain('DELETE stray by minted');
  expect(job.sentAt[job.requests.indexOf(self)]).toBeGreaterThan(15 * second);
});

const renameAtDelete: JobPlan['duringMain'] = async (main, stage) => {
  await main.reach(stage.service.arrived({ endpoint: 'revoke-key' }));
  rename(stage);
};
const seenByMain = { inMain: [onCreate(lost), onDelete(status(404), { nth: 1 })], duringMain: renameAtDelete };
const reuseAfterDelete = (changes: Partial<ApiKey>) => (stage: KeyStage) => {
  const { id } = addStray(stage);
  stage.service.faults.add({ path: `/api_keys/${id}`, nth: 1, fault: status(503) });
  stage.after(100, () => void Object.assign(stage.service.plane.reuseId(id, 'of another tool'), changes));
};
const [reuseLater, reuseOlder] = [reuseAfterDelete({}), reuseAfterDelete({ createdAt: Date.UTC(2023, 0, 1) })];
const firstListFails = onList(status(500), { nth: 1 });
const rejectedOnce = [onDelete(status(403)), firstListFails];
const onlyFirstList = [onDelete(status(403), always), onList(status(500), { from: 2 })];
const strayDelete = 'DELETE stray by minted';
const notConfirmed = /^Could not confirm that key/;
test.for<[when: string, deletes: string[], plan: JobPlan, doubt?: RegExp]>([
  // The service no longer knows the minted key. What that key sends does not count here.
  ['all lists fail after a 401', [], { beforePost: reuse, inPost: [onList(status(500), always)] }, notConfirmed],
  ['only the first list fails, after a 403', [], { beforePost: reuse, inPost: rejectedOnce }],
  ['all lists but the first fail', [], { beforePost: reuse, inPost: onlyFirstList }, notConfirmed],
  ['the list is incomplete after a 401', [], { beforePost: reuse, inPost: [incomplete] }, notConfirmed],
  ['only main found the old key', [], { ...foundAlive, inPost: [firstListFails], beforePost: reuse }],
  ['only main saw the new name', [self], { ...seenByMain, inPost: [nothing] }],
  ['the old key still had it at the first DELETE', [strayDelete, self], { ...orphaned, beforePost: reuseLater }],
  ['the new key seems to be older', [strayDelete, self], { ...orphaned, beforePost: reuseOlder }, notConfirmed],
])('post spares another key that now has the id of its key, even if %s', async ([, deletes, plan, doubt], context) => {
  const job = await runJob(context, plan);
  expect(job.requests.filter((request) => /^DELETE .* by (parent|minted)$/.test(request))).toEqual(deletes);
  expect(job.post).toMatchObject({ annotations: doubt ? [warning(doubt)] : [], exitCode: 0 });
  expect(job.service.plane.aliveKeys('of another tool')).toHaveLength(1);
});

test('if the id of a key may belong to another key by now, post advises to revoke by name', async (context) => {
  const beforePost = (stage: KeyStage) => {
    reuse(stage);
    stage.after(11 * second, () => stage.service.faults.clear());
  };
  const job = await runJob(context, { beforePost, inPost: [onList(status(503), always)] });
  const { 'key-id': id, 'key-name': name } = job.main.outputs;
  expectFailed(job, new RegExp(`^Could not confirm that key ${id} .*mode: revoke-key and key-name: ${name}\\.`));
});

test('if several keys may have one name, post advises to list them, because revoke-key rejects such a name', async (context) => {
  const inMain = [ambiguous('never'), ambiguous('never', 2), onCreate(hang, { nth: 3 })];
  const duringMain = killAt({ endpoint: 'create-key', n: 3 });
  const job = await runJob(context, { inMain, duringMain, post: { inputs: {} } });
  expect(job.post.annotations[0]?.message).toMatch(
    /^A key named \S+ may still (exist|be created): .*mode: list-keys and filter: name=/,
  );
});

test('post reports the lifetime of a key up to its revocation, even if post continues to search', async (context) => {
  const job = await runRevoked(context, killed);
  expect(job.post.ms).toBeGreaterThan(15 * second);
  expect(job.post.summary).toMatch(/^### ✅ create-key: Key \d+ was revoked, \d+ms after/);
});

const noKey = { ...killed, inMain: [onCreate(neverDone)] };
const carriedOutTwice: JobPlan = {
  inMain: [onCreate(lost), ambiguous('never', 2)],
  duringMain: async (_, stage) => stage.after(50, () => void addStray(stage)),
  trip: () => 20,
};
const oneStray = { beforePost: addStray };
const foundByMain = { inMain: [onCreate(lost), ambiguous('never', 2)] };
const foundAgain = [...foundByMain.inMain, onDelete(status(200, { body: '{"revoked":true}' }), { count: 2 })];
const killedAtDelete = { inMain: [onCreate(lost), onDelete(hang)], duringMain: killAt({ endpoint: 'revoke-key' }) };
const killedAtSecondCreate = {
  inMain: [onCreate(lost), onCreate(neverDone, { nth: 2 })],
  duringMain: killAt({ endpoint: 'create-key', n: 2 }),
};
const byName = /key-name: shop-kept\S+\. .* sweep-keys does not revoke it/;
const bySweep = /\(?shop-run\S+ other than key \d+ may still .*sweep-keys revokes it once this run is over/;
test.for<[what: string, plan: JobPlan, annotations: readonly unknown[]]>([
  ['no key after main was killed', noKey, [mayBeCreated]],
  ['no key with revoke-in-post: false', { ...noKey, inputs: { 'revoke-in-post': 'false' } }, [warning(byName)]],
  ['no key of the first create', { inMain: [ambiguous('never')] }, [warning(bySweep)]],
  ['one key of two creates', { inMain: [ambiguous('never'), ambiguous('never', 2)], ...oneStray }, [mayBeCreated]],
  ['no key of the second of two creates, although main found two keys of the first', carriedOutTwice, [mayBeCreated]],
  ['the key of the first create', { inMain: [ambiguous('never')], ...oneStray }, []],
  ['one key of two creates, and main found the other', { ...foundByMain, ...oneStray }, []],
  ['the same key as main, after two creates', { ...foundByMain, inMain: foundAgain }, [mayBeCreated]],
  ['nothing, because main had found the key before it was killed', killedAtDelete, []],
  ['one key of two creates, because main was killed during the second one', killedAtSecondCreate, [mayBeCreated]],
  ['nothing, because main found all keys', { inMain: [onCreate(lost), onCreate(lost, { nth: 2 })] }, []],
])('with on-revoke-failure: fail, post gives at most a warning if it finds %s', async (row, context) => {
  const [, { inputs, ...plan }, annotations] = row;
  const job = await runJob(context, { ...plan, inputs: { 'on-revoke-failure': 'fail', ...inputs } });
  expect(job.post).toMatchObject({ annotations, conclusion: 'success', exitCode: 0 });
  expect(job.left).toEqual(noLeftovers);
});

test.for<[what: string, ...inPost: FaultRule[]]>([
  ['searches for 17 s with the minted key'],
  ['searches for 17 s with the parent key', { nth: 1, fault: status(403) }],
])('post with revoke-in-post: false %s, and keeps only the minted key', async ([, ...inPost], context) => {
  const inMain = [ambiguous({ msAfterGivenUp: 17_000 })];
  const job = await runJob(context, { inMain, inPost, inputs: { 'revoke-in-post': 'false' } });
  expect(job.post.annotations).toEqual([]);
  expect(job.made()).toHaveLength(2);
  expect(job.left.alive).toEqual([job.main.outputs['key-id']]);
  expect(job.post.summary).not.toContain(`<code>${job.main.outputs['key-id']}</code>`);
  expect(job.requests.includes('GET by parent')).toBe(inPost.length > 0);
});

test.for<[what: string, plan: JobPlan]>([
  ['no key', noKey],
  ['no other key', kept],
])('the summary of post says that post found %s with the key name of the step', async ([what, plan], context) => {
  const { post } = await runJob(context, plan);
  expect(post.summary).toMatch(new RegExp(`^### ⚠️ create-key: Found ${what} named shop-`));
});

test('post warns if its last lists fail, even if it has read an earlier one', async (context) => {
  const beforePost = (stage: KeyStage) =>
    stage.after(10 * second, () => void stage.service.faults.add(onList(status(500))));
  const job = await runJob(context, { ...killed, beforePost });
  expectFailed(job, /^A key named shop-\S+ may still exist: .* 500/);
  expect(job.left.alive).toEqual([]);
});

test('if post cannot revoke another key of the step, its warning says why, not that a replica may lag', async (context) => {
  const beforePost = (stage: KeyStage) => {
    revokeMinted(stage);
    stage.service.faults.add({ path: `/api_keys/${addStray(stage).id}`, fault: status(409) });
  };
  const job = await runJob(context, { inMain: [ambiguous('never')], beforePost });
  expectFailed(job, /^Could not confirm that key (?!.*so new).* 409/);
});

test.for([
  ['true', 'sweep-keys revokes it once this run is over', 'run'],
  ['false', 'sweep-keys does not revoke it', 'kept'],
])('with revoke-in-post: %s, post warns of a rejected search: “%s”', async ([revoke, advice, word], context) => {
  const plan = { inMain: [ambiguous('never')], inPost: [onList(status(403))] };
  const job = await runJob(context, { ...plan, inputs: { 'revoke-in-post': revoke } });
  expectFailed(job, new RegExp(`^A key named shop-${word}.* may still exist: .*The service says 403.*${advice}`));
  expect(job.post.ms).toBeLessThan(10 * second);
  expect(job.left.alive).toEqual(revoke === 'true' ? [] : [job.main.outputs['key-id']]);
});

test('if a search hangs, post revokes the minted key 4 s before the step ends', async (context) => {
  const beforePost = (stage: KeyStage) => stage.after(12 * second, () => stage.service.faults.add(onList(hang)));
  const job = await runRevoked(context, { ...orphaned, beforePost });
  expect([job.requests.at(-1), job.sentAt.at(-1)]).toEqual([self, 16 * second]);
});

test.for<[what: string, plan: JobPlan, fault: Fault, left: 0 | 1]>([
  ['first of two keys if the second is locked', { inMain: [ambiguous('never')] }, retryAfter(423, 1), 1],
  ['first of two keys if the DELETE of the second hangs', orphaned, neverDone, 1],
  ['second of two keys if the first gets a 409', killed, status(409), 0],
  ['second of two keys if the first gets a 500', killed, status(500), 0],
])('post revokes the %s', async ([, plan, fault, left], context) => {
  const beforePost = (stage: KeyStage) => {
    addStray(stage);
    stage.service.faults.add({ path: `/api_keys/${stage.made()[left]?.id}`, fault });
  };
  const job = await runJob(context, { ...plan, beforePost });
  expect(job.left).toEqual({ ...noLeftovers, alive: [job.made()[left]?.id] });
});

test('a 423 for one key does not delay the search for other keys', async (context) => {
  const beforePost = (stage: KeyStage) => {
    stage.service.faults.add({ path: `/api_keys/${mintedOf(stage).id}`, fault: retryAfter(423, 15) });
    stage.after(2 * second, () => addStray(stage));
  };
  const job = await runJob(context, { ...killed, beforePost });
  expect(job.left).toEqual({ ...noLeftovers, alive: [mintedOf(job).id] });
  const deletes = job.sentAt.filter((_, n) => job.requests[n] === 'DELETE stray by parent');
  expect(deletes.filter((ms) => ms < 15 * second)).toEqual([0, expect.toSatisfy((ms: number) => ms < 5 * second)]);
});

test('post continues to search if the parent key is revoked', async (context) => {
  const beforePost = (stage: KeyStage) => {
    stage.service.plane.revokeKey(stage.service.plane.aliveKeys('console')[0]?.id ?? '');
    stage.after(1_000, () => addStray(stage));
  };
  const job = await runJob(context, { inMain: [ambiguous('never')], beforePost });
  expect(job.made()).toHaveLength(2);
  expect(job.left).toEqual({ ...noLeftovers, othersRevoked: ['console'] });
});

test('post also revokes a second key with the name of the minted key, even if no create response was lost', async (context) => {
  const job = await runRevoked(context, { beforePost: strayAlone });
  expect(job.requests.filter((request) => request.startsWith('DELETE'))).toContain('DELETE stray by parent');
});

test('post revokes nothing by a list that is not whole, and names the keys in a warning', async (context) => {
  const beforePost = (stage: KeyStage) => {
    const { id, name } = addStray(stage);
    const body = `[{"id":${id},"name":"${name}"}]`;
    const headers = { link: '</v2/api_keys?page=2>; rel="next"' };
    stage.service.faults.add(onList(status(200, { body, headers })));
  };
  const job = await runJob(context, { ...orphaned, beforePost });
  expectFailed(job, /not whole/);
  expect(job.requests.filter((request) => /DELETE (?!minted)/.test(request))).toEqual([]);
});

test.for<[code: number, seconds: number, fault: Fault, ofDelete: number]>([
  [423, 9, retryAfter(423, 9), 404],
  [429, 0.25, status(429), 503],
])('a %i for the list delays all requests by %d s', async ([, seconds, fault, ofDelete], context) => {
  const inPost = [onDelete(status(ofDelete)), onList(fault, { nth: 2 })];
  const job = await runRevoked(context, { ...orphaned, inPost, beforePost: (stage) => void addStray(stage) });
  const at = job.service.requests
    .slice(-job.requests.length)
    .findIndex((sent) => sent.fault === 'status' && sent.endpoint === 'list-keys');
  expect(at).toBeGreaterThan(0);
  expect(job.sentAt[at + 1]).toBeGreaterThanOrEqual((job.sentAt[at] ?? 0) + seconds * second);
});

const [key, baseUrl] = ['ctl_4u6tyr0wqz81mvbn37xkdjsh5g92lfpa', 'https://other.test/v2'];
const others = { mode: 'revoke-key', 'key-id': '1', 'api-key': key, 'base-url': baseUrl };
const notMyUrl =
  /^The saved state has the base-url https:\/\/control\.test\/v2, which .* that key \d+ \(shop-.*\) is revoked\.$/;
const doubt = warning(notMyUrl);
const given: [what: string, post: StepOptions, annotations?: readonly unknown[]][] = [
  ['no inputs', { inputs: {} }, [doubt]],
  ['all inputs of a revoke-key', { inputs: { ...others, timeout: '1ms', summary: 'no' } }, [doubt]],
  ['another environment', { inputs: {}, env: { CTL_API_KEY: key, CTL_BASE_URL: baseUrl } }, [doubt]],
  ['only its own base-url', { inputs: { ...others, 'base-url': controlUrl } }],
  ['only its own base-url by the environment', { inputs: {}, env: { CTL_BASE_URL: controlUrl } }],
  ['another path of its host', { inputs: { ...others, 'base-url': 'https://control.test/other/v2' } }, [doubt]],
  ['half of the parent key', { inputs: { 'api-key': parentKey.slice(0, 20), 'base-url': controlUrl } }],
  ['the parent key and another base-url', { inputs: { 'api-key': parentKey, 'base-url': baseUrl } }],
];
const failing: JobPlan = { inputs: { 'on-revoke-failure': 'fail' }, post: { inputs: {} } };
test.for([
  ...given.map(([what, post, doubts]) => ['a key', what, { post } as JobPlan, doubts] as const),
  ...given.map(([what, post]) => ['only a key name', what, { ...killed, post }] as const),
  ['a key and on-revoke-failure: fail', 'no inputs', failing, [doubt]] as const,
])('post uses no input of another step (main saved %s, post gets %s)', async ([, name, plan, doubts = []], context) => {
  const job = await runJob(context, plan);
  expect(job.elsewhere).toEqual([]);
  expect(job.post.output + JSON.stringify(job.service.requests)).not.toContain(key);
  if (doubts.length > 0) expect(job.post.summary).toMatch(/^### ⚠️/);
  if (plan.duringMain === undefined || name.startsWith('the parent key')) return expectRevoked(job, doubts);
  expect(job.requests).toEqual([]);
  expectFailed(job, new RegExp(mintedOf(job).name));
  expect(job.post.summary).toContain(mintedOf(job).name);
});
