import { describe, expect, type TestContext, test } from 'vitest';
import type { Fault, FaultRule } from '../../control-plane/index.js';
import { addBetween, delay, hang, lost, onCreate, onDelete, onList, page, retryAfter, status } from '../kit/fault.js';
import type { FinishedJob, JobPlan, KeyStage } from '../kit/key-stage.js';
import { killAt, noLeftovers, parentKey, runJob } from '../kit/key-stage.js';
import { warningsOf } from '../kit/stage.js';
import { between, gaps, second } from '../kit/times.js';
import type { StepOptions, StepResult } from '../runner/step.js';

const self = 'DELETE minted by minted';
const never: Fault = { ...lost, done: 'never' };
const controlUrl = 'https://control.test/v2';
const noParent: StepOptions = { inputs: { 'api-key': '', 'base-url': controlUrl } };

/** What post meets. */
type Scene = (stage: KeyStage, main: StepResult) => unknown;
/** The key is so old when post begins. In seconds. */
const atAge = (age: number, ...scenes: readonly Scene[]): JobPlan => ({
  beforePost: async (stage, main) => {
    await stage.pass(age * second);
    for (const scene of scenes) scene(stage, main);
  },
});
const secretOf = (who: 'minted' | 'parent', main: StepResult) =>
  who === 'parent' ? parentKey : (main.outputs['key'] ?? '');

/** From that second of post to the other, each DELETE with this key meets a fault. */
function meets(
  who: 'minted' | 'parent' | 'any',
  fault: Fault,
  { from = 0, to = 100, ...which }: { from?: number; to?: number; count?: number } = {},
): Scene {
  return (stage, main) => {
    const by = who === 'any' ? {} : { by: secretOf(who, main) };
    addBetween(stage, from, to, onDelete(fault, { ...by, ...which }));
  };
}
const all =
  (fault: Fault, seconds: number): Scene =>
  (stage) =>
    addBetween(stage, 0, seconds, { fault });
const revokeParent: Scene = ({ service }) => service.plane.revokeKey(service.plane.keyOfSecret(parentKey)?.id ?? '');
const addStray: Scene = ({ service }, main) => service.plane.addKey(main.outputs['key-name'] ?? '');

/** No key is left, and post says nothing but what it did. */
function expectGone({ post, left, requests }: FinishedJob): void {
  expect(post).toMatchObject({ annotations: [], conclusion: 'success', exitCode: 0 });
  expect({ ...left, othersRevoked: left.othersRevoked.filter((name) => name !== 'console') }).toEqual(noLeftovers);
  expect(requests.filter((request) => /unknown|other/.test(request))).toEqual([]);
  expect(post.ms).toBeLessThanOrEqual(20 * second);
}

/** One warning, or one error, names each key that is alive. */
function expectNamed({ post, left }: FinishedJob, says: RegExp, kind: 'warning' | 'error' = 'warning'): void {
  expect(post.annotations).toEqual([expect.objectContaining({ kind, message: expect.stringMatching(says) })]);
  expect([post.conclusion, post.exitCode]).toEqual(kind === 'warning' ? ['success', 0] : ['failure', 1]);
  expect(left).toMatchObject({ unnamed: [], secretsShown: [], othersRevoked: [] });
  expect(post.ms).toBeLessThanOrEqual(20 * second);
}

async function runGone(context: TestContext, plan: JobPlan): Promise<FinishedJob> {
  const job = await runJob(context, plan);
  expectGone(job);
  return job;
}

test('post revokes a minted key of 10 s at once, with two DELETEs sent with that key', async (context) => {
  const job = await runGone(context, atAge(10));
  expect(job.requests).toEqual([self, self]);
  expect(job.post.ms).toBeLessThan(second);
  expect(job.post.summary).toMatch(/^### ✅/);
  for (const text of [job.main.outputs['key-id'], job.main.outputs['key-name']])
    expect(job.post.summary).toContain(text);
});

test.for([0, 9])('post that begins %i s after create-key ends 10 s after it, not earlier', async (age, context) => {
  const job = await runGone(context, atAge(age));
  expect(job.post.ms).toEqual(between((10 - age) * second, (13.5 - age) * second));
  expect(job.requests.length).toBeLessThanOrEqual(6);
});

const accepts = (body: string) => status(200, { body, done: 'now' });
const takesNo = (body: string) => status(200, { body, done: 'never' });
const isRevoked = '{"revoked":true}';
test.for<readonly [what: string, age: number, scenes: readonly Scene[], from: number, to: number, post?: StepOptions]>([
  ['a 200 to DELETE that does not say “revoked”', 60, [meets('any', accepts('{}'), { count: 1 })], 0, 2],
  ['a 403 to the first DELETE', 60, [meets('minted', status(403), { count: 1 })], 0, 3],
  ['a lost response to DELETE', 60, [meets('any', lost, { count: 1 })], 0, 5],
  ['a lost response to DELETE and no parent key', 60, [meets('any', lost, { count: 1 })], 10, 15, noParent],
  ['a 401 to the first DELETE', 60, [meets('minted', status(401), { count: 1 })], 0, 3],
  ['a 401 to every request for 8 s', 60, [all(status(401), 8)], 8, 12],
  ['a 401 to every request in the first 9.9 s of a key', 0, [all(status(401), 9.9)], 10, 13.5],
  ['a 401 to every request for 9.9 s and no parent key', 60, [all(status(401), 9.9)], 9.9, 14, noParent],
  [
    'a 401 to a new key and a 404 to the parent key for 9.9 s',
    0,
    [meets('minted', status(401), { to: 9.9 }), meets('parent', status(404), { to: 9.9 })],
    10,
    14,
  ],
  ['cut connections for 16 s', 60, [all(never, 16)], 16, 20],
  ['no response to the first DELETE', 60, [meets('any', { ...hang, done: 'never' }, { count: 1 })], 6, 9],
  ['responses that take 5.9 s each', 60, [meets('any', delay(5_900))], 11, 13],
  ['three DELETEs that are accepted without effect', 60, [meets('any', takesNo(isRevoked), { count: 3 })], 0, 6],
  ['a missing parent key', 60, [], 0, 1, noParent],
  ['a 429 with Retry-After: 60', 60, [meets('any', retryAfter(429, 60), { count: 1 })], 0, 4.5],
])('post revokes its key without a warning despite %s', async ([, age, scenes, from, to, post], context) => {
  const job = await runGone(context, { ...atAge(age, ...scenes), ...(post && { post }) });
  expect(job.post.ms).toEqual(between(from * second, to * second));
});

const ahead = 600 * second;
/** The clock is set forward between main and post. */
const forward = (part: 'main' | 'post') => (part === 'main' ? 0 : ahead);
test.for<[what: string, plan: Pick<JobPlan, 'clockAheadMs' | 'dateAheadMs'>]>([
  ["the runner's clock is 10 min fast", { clockAheadMs: ahead }],
  ["the runner's clock is 10 min slow", { clockAheadMs: -ahead }],
  ["the service's clock is 10 min fast", { dateAheadMs: ahead }],
  ["the service's clock is 10 min slow", { dateAheadMs: -ahead }],
  ["the runner's clock is set 10 min forward before post", { clockAheadMs: forward }],
])('post knows the age of a key even if %s', async ([, clocks], context) => {
  const young = await runGone(context, { ...atAge(0, all(status(401), 9)), ...clocks });
  expect(young.post.ms).toEqual(between(9 * second, 13.5 * second));
  const old = await runGone(context, { ...atAge(60), ...clocks });
  expect(old.post.ms).toBeLessThan(second);
  await runGone(context, { ...atAge(0, all(status(401), 12)), ...clocks, post: noParent });
});

test.for([0, 60])(
  'post that begins %i s after create-key takes 10 s if there is no Date header',
  async (age, context) => {
    const { post } = await runGone(context, { ...atAge(age), clockAheadMs: forward, dateAheadMs: 'absent' });
    expect(post.ms).toEqual(between(10 * second, 13.5 * second));
  },
);

test.for<readonly [what: string, age: number, scenes: readonly Scene[], post?: StepOptions]>([
  ['a 404 to every DELETE', 60, [meets('any', status(404))]],
  ['HTML pages with status 401 and no parent key', 60, [meets('any', page(401))], noParent],
  ['a 401 to the key, and a 403 to the parent key', 60, [meets('minted', status(401)), meets('parent', status(403))]],
  [
    'a 401 to the key, and an HTML page with status 404 to the parent key',
    60,
    [meets('minted', status(401)), meets('parent', page(404))],
  ],
  [
    'a 401 to the key, and a 404 to the parent key for only 9.9 s',
    0,
    [
      meets('minted', status(401)),
      meets('parent', status(404), { to: 9.9 }),
      meets('parent', status(502), { from: 9.9 }),
    ],
  ],
  ['a 401 to both keys', 60, [meets('any', status(401))]],
  [
    'a 401 for 9.5 s, then a 403, and no parent key',
    60,
    [meets('any', status(401), { to: 9.5 }), meets('any', status(403), { from: 9.5 })],
    noParent,
  ],
  ['accepted DELETEs without effect', 60, [meets('any', takesNo(''))], noParent],
  ['no response to any DELETE', 60, [meets('any', { ...hang, done: 'never' })]],
])('post warns that the key is still alive after %s', async ([, age, scenes, post], context) => {
  const job = await runJob(context, { ...atAge(age, ...scenes), ...(post && { post }) });
  const { 'key-id': id, 'key-name': name } = job.main.outputs;
  expectNamed(job, new RegExp(`key ${id} \\(${name}\\).*mode: revoke-key and key-id: ${id}\\b`, 's'));
  expect(job.left.alive).toEqual([id]);
  expect(job.post.summary).toContain(`key-id: ${id}`);
  // Until then, a retry might have helped.
  expect(job.post.ms).toBeGreaterThanOrEqual(19 * second);
});

test('post pauses for random times between DELETEs that fail', async (context) => {
  const { sentAt } = await runJob(context, atAge(60, meets('any', status(502))));
  expect(new Set(gaps(sentAt)).size).toBeGreaterThan(4);
});

describe.for(['warn', 'fail'] as const)('post with on-revoke-failure: %s', (onFailure) => {
  const kind = onFailure === 'warn' ? 'warning' : 'error';
  const inputs = { 'on-revoke-failure': onFailure };

  test(`names in its ${kind} a key that could not be revoked, and why`, async (context) => {
    const post = { inputs: { 'api-key': parentKey, 'on-revoke-failure': 'wran' } };
    const job = await runJob(context, { inputs, post, ...atAge(60, meets('any', status(403))) });
    expectNamed(job, /The service says 403/, kind);
    expect(job.post.summary).toMatch(onFailure === 'warn' ? /^### ⚠️/ : /^### ❌/);
  });

  test(`names in its ${kind} a key that could not be revoked and whose create got no response`, async (context) => {
    const onStray: Scene = ({ service, made }) =>
      service.faults.add({ path: `/api_keys/${made()[0]?.id}`, fault: status(403) });
    const job = await runJob(context, { inMain: [onCreate(lost)], inputs, ...atAge(0, onStray) });
    expectNamed(job, new RegExp(`key ${job.made()[0]?.id} \\(.*403.*key-id`), kind);
    expect(job.left.alive).toEqual([job.made()[0]?.id]);
  });
});

test('post names both keys if neither the minted one nor one whose create got no response could be revoked', async (context) => {
  const refused: Scene = ({ service }) => service.faults.add({ endpoint: 'revoke-key', fault: status(403) });
  const job = await runJob(context, { inMain: [onCreate(lost)], ...atAge(0, refused) });
  expect(job.made()).toHaveLength(2);
  const said = job.post.annotations.map(({ message }) => message).join();
  for (const { id } of job.made()) expect(said).toContain(`key-id: ${id}`);
});

test('post accepts the parent key from CTL_API_KEY, and masks it', async (context) => {
  const post = { inputs: {}, env: { CTL_API_KEY: parentKey } };
  const job = await runGone(context, { ...atAge(60, meets('minted', status(403), { count: 1 })), post });
  expect(job.post.masks).toContain(parentKey);
});

const [key, baseUrl] = ['ctl_4u6tyr0wqz81mvbn37xkdjsh5g92lfpa', 'https://other.test/v2'];
const others = { mode: 'revoke-key', 'key-id': '1', 'api-key': key, 'base-url': baseUrl, timeout: '1ms' };
test.for<[what: string, post: StepOptions]>([
  ['all inputs of another step', { inputs: others }],
  ['an unknown input', { inputs: { 'api-key': parentKey }, env: { INPUT_FAILON: 'empty' } }],
  ['the environment of another step', { inputs: {}, env: { CTL_API_KEY: key, CTL_BASE_URL: baseUrl } }],
])('post revokes the key that its main step saved even if it gets %s', async ([, post], context) => {
  const job = await runGone(context, { ...atAge(60), post });
  expect(job.elsewhere).toEqual([]);
  expect(job.post.output + JSON.stringify(job.service.requests)).not.toContain(key);
});

/** A create whose response is lost. Main then gets a key by a second one. */
const late = (done: 'now' | 'never' | { msAfterGivenUp: number }, nth = 1) => onCreate({ ...lost, done }, { nth });
const killed: JobPlan = { inMain: [onCreate(hang)], duringMain: killAt({ endpoint: 'create-key' }) };
const cancelled: JobPlan['duringMain'] = async (main, stage) => stage.after(500, () => void main.cancel());
const listed401: Scene = (stage) => addBetween(stage, 0, 8, onList(status(401)));
test.for<readonly [what: string, plan: JobPlan, made: number]>([
  ['a create whose response was lost', { inMain: [late('now')] }, 2],
  ['a create that took effect 16 s after it was given up', { inMain: [late({ msAfterGivenUp: 16_000 })] }, 2],
  ['a create that took effect twice', { inMain: [late('now')], ...atAge(0, addStray) }, 3],
  ['a cancel during the create', { inMain: [onCreate(hang)], duringMain: cancelled }, 1],
  ['a lost response, then a 401 to each list for 8 s', { inMain: [late('now')], ...atAge(0, listed401) }, 2],
  [
    'a lost response, then a 502 to each request for 12 s',
    { inMain: [late('now')], ...atAge(0, all(status(502), 12)) },
    2,
  ],
  ['a kill during the create and DELETEs with empty responses', { ...killed, inPost: [onDelete(accepts(''), {})] }, 1],
])('post revokes all keys of its step, and no others, after %s', async ([, plan, made], context) => {
  const job = await runGone(context, plan);
  expect(job.made()).toHaveLength(made);
  for (const { id } of job.made()) expect(job.post.summary).toContain(id);
});

const twoOfThree = { inMain: [late('now'), late('never', 2)] };
const notWhole = { link: '</v2/api_keys?page=2>; rel="next"' };
const showStray = ({ service, made }: KeyStage) =>
  service.faults.add(
    onList(status(200, { headers: notWhole, body: `[{"id":${made()[0]?.id},"name":"${made()[0]?.name}"}]` })),
  );
test.for<readonly [what: string, plan: JobPlan, alive: number, isSearched?: false]>([
  ['no list shows the key of a create without response', { inMain: [late('never')] }, 0],
  ['only one of two creates without response made a key', twoOfThree, 0],
  ['a create takes effect 21 s after it was given up', { inMain: [late({ msAfterGivenUp: 21_000 })] }, 0],
  ['create-key was killed and no key was made', { ...killed, inMain: [onCreate({ ...hang, done: 'never' })] }, 0],
  ['every list gets a 403', { inMain: [late('now')], inPost: [onList(status(403))] }, 1],
  ['every list is incomplete', { inMain: [late('now')], ...atAge(0, showStray) }, 1],
  ['the parent key was revoked', { inMain: [late('now')], ...atAge(0, revokeParent) }, 1],
  ['the parent key is missing', { inMain: [late('now')], post: noParent }, 1, false],
])('post revokes its key, and warns of others of that name, if %s', async (row, context) => {
  const [what, plan, alive, isSearched = true] = row;
  const job = await runJob(context, { ...plan, inputs: { 'on-revoke-failure': 'fail' } });
  const { key_name: name } = JSON.parse(job.service.requests[0]?.body ?? '');
  const warning = warningsOf(job.post).join('\n');
  expect(warning, what).toMatch(new RegExp(`${name}.*(list-keys|console)`));
  expect(job.post).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [{ kind: 'warning' }] });
  expect(job.left).toMatchObject({ unnamed: [], secretsShown: [] });
  expect(job.left.alive).toHaveLength(alive);
  expect(job.left.alive).not.toContain(job.main.outputs['key-id']);
  const lists = job.sentAt.filter((_, n) => job.requests[n] === 'GET by parent');
  if (isSearched) expect(lists.at(-1)).toEqual(between(15 * second, 18 * second));
  else expect(lists).toEqual([]);
});

const kept = { 'revoke-in-post': 'false' };
test('post with revoke-in-post: false revokes only a key whose create got no response', async (context) => {
  const job = await runJob(context, { inMain: [late({ msAfterGivenUp: 9_000 })], inputs: kept });
  expect(job.post.annotations).toEqual([]);
  expect(job.made()).toHaveLength(2);
  expect(job.left.alive).toEqual([job.main.outputs['key-id']]);
  expect(job.main.state['key']).not.toContain(job.main.outputs['key']);
});

test.for<readonly [what: string, rule: FaultRule, whose: 0 | 1]>([
  ['the minted key at once although lists hang', onList({ ...hang, done: 'never' }), 0],
  [
    'a second key of its name at once although DELETEs of the minted key hang',
    onDelete({ ...hang, done: 'never' }, {}),
    1,
  ],
])('post revokes %s', async ([, { fault, endpoint = 'any' }, whose], context) => {
  const block: Scene = ({ service }, { outputs }) =>
    service.faults.add({ endpoint, fault, ...(whose === 1 && { path: `/api_keys/${outputs['key-id']}` }) });
  const job = await runJob(context, { inMain: [late('now')], ...atAge(60, block) });
  const [stray, minted] = job.made();
  const freed = whose === 0 ? minted : stray;
  expect(job.left.alive).not.toContain(freed?.id);
  expect(freed?.revokedAt).toBeLessThan((job.service.requests.at(-job.requests.length)?.at ?? 0) + second);
});
