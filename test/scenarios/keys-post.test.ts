import { type TestContext, test } from 'vitest';
import type { Exchange, FaultRule } from '../control-plane/index.js';
import type { StepOptions } from '../runner/step.js';
import { type KeyStage, killAt, live, type Plot, parentKey, setKeyStage } from './key-stage.js';
import { secretsShown } from './leaks.js';
import { reach } from './reach.js';
import { sabotage } from './sabotage.js';
import { setStage, warningsOf } from './stage.js';

type Inputs = NonNullable<StepOptions['inputs']>;

/** Main has a key; what became of a create before it is not known yet. */
const doubtful = (msAfterGivenUp: number): Plot => ({
  inMain: [{ endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: { msAfterGivenUp } } }],
});
const killed: Plot = {
  inMain: [{ endpoint: 'create-key', nth: 1, fault: { kind: 'hang-before-headers' } }],
  meanwhile: killAt({ endpoint: 'create-key' }),
};
/** What main leaves, and whether the minted key alone is enough to leave nothing. */
interface Leaving extends Plot {
  readonly hasKey: boolean;
  /** Of all that post may be handed; all when not given. */
  readonly givings?: readonly string[];
}

const leavings: Readonly<Record<string, Leaving>> = {
  'made a key': { hasKey: true },
  'was killed with its key in state': {
    hasKey: true,
    options: { nodeArgs: sabotage('signal-at'), env: { SIGNAL_AT: 'SIGKILL after state 3' } },
  },
  'made a key after an unclear create': {
    hasKey: true,
    givings: ['another api-key and base-url', 'another base-url'],
    ...doubtful(2_000),
  },
  'was killed before it had a key': { hasKey: false, ...killed },
};

/** The secret of a step that is none of this one's business, and its control plane. */
interface Other {
  readonly key: string;
  readonly baseUrl: string;
}

/** What post is handed in a nested composite, or where an expression gives nothing there. */
const givings: Readonly<Record<string, { readonly hasParent: boolean; readonly inputs: (other: Other) => Inputs }>> = {
  'no api-key': { hasParent: false, inputs: () => ({ mode: 'create-key', 'api-key': '' }) },
  'no inputs at all': { hasParent: false, inputs: () => ({}) },
  'another api-key': { hasParent: false, inputs: ({ key }) => ({ mode: 'create-key', 'api-key': key }) },
  'another api-key and base-url': {
    hasParent: false,
    inputs: ({ key, baseUrl }) => ({ mode: 'wait-operation', 'api-key': key, 'base-url': baseUrl, summary: 'false' }),
  },
  'another base-url': {
    hasParent: true,
    inputs: ({ baseUrl }) => ({ mode: 'create-key', 'api-key': parentKey, 'base-url': baseUrl }),
  },
};

// Those that take longest first.
const slowList = (ms: number): FaultRule => ({ endpoint: 'list-keys', fault: { kind: 'delay', ms } });

for (const [name, plot] of Object.entries({
  'main was killed': killed,
  'a create was unclear': doubtful(3_000),
  'a create was unclear, and the parent key is missing': {
    ...doubtful(3_000),
    post: { inputs: { mode: 'create-key', 'api-key': '' } },
  },
} satisfies Record<string, Plot>)) {
  test.concurrent(`a list that takes 4 s each time is no reason for an alarm where ${name}`, async (context) => {
    const { expect } = context;
    const { stage, post, alive, untold, shown, harmed } = await live(context, { ...plot, inPost: [slowList(4_000)] });

    expect({ alive, untold, shown, harmed }).toEqual({ alive: [], untold: [], shown: [], harmed: [] });
    expect(stage.made()).toHaveLength(plot === killed ? 1 : 2);
    expect(warningsOf(post)).toEqual([]);
  });
}

for (const [name, fault, post] of [
  ['the parent key at hand', { kind: 'status', status: 423, retryAfter: { seconds: 1 } }, {}],
  ['no parent key', { kind: 'hang-before-headers', done: 'never' }, { inputs: { mode: 'create-key', 'api-key': '' } }],
] as const) {
  test.concurrent(`a lost key that cannot be revoked does not keep the known one, ${name}: ${JSON.stringify(fault)}`, async (context) => {
    const { expect } = context;
    const stage = await setKeyStage(context);
    const { faults, plane } = stage.service;
    faults.add({ endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: 'never' } });
    const main = await stage.runCreate();
    const [known] = stage.made();
    const lost = plane.addKey(known?.name ?? '');
    faults.add({ path: `/api_keys/${lost.id}`, fault });
    const result = await stage.runPost(main, post);

    expect(plane.isAlive(known?.id ?? ''), result.log).toBe(false);
    expect(stage.aftermath(main, result)).toEqual({ alive: [lost.id], untold: [], shown: [], harmed: [] });
  });
}

test.concurrent('a parent key that was revoked meanwhile does not end the search for a lost key', async (context) => {
  const { expect } = context;
  const stage = await setKeyStage(context);
  const { service } = stage;
  service.faults.add({ endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: 'never' } });
  const main = await stage.runCreate();
  const [known] = stage.made();
  service.plane.revokeKey(service.plane.aliveKeys('console')[0]?.id ?? '');
  const looksOfMain = service.requests.filter(({ endpoint }) => endpoint === 'list-keys').length;
  const step = stage.startPost(main);
  await reach(step, service.ended({ endpoint: 'list-keys', n: looksOfMain + 2 }));
  // What was given up is carried out now.
  service.plane.addKey(known?.name ?? '');
  const post = await step.done;

  expect(stage.aftermath(main, post), post.log).toEqual({ alive: [], untold: [], shown: [], harmed: ['console'] });
});

for (const status of [409, 500]) {
  test.concurrent(`a key that cannot be revoked (${status}) does not keep post from another of its name`, async (context) => {
    const { expect } = context;
    const stage = await setKeyStage(context);
    const { faults, plane } = stage.service;
    for (const rule of killed.inMain ?? []) faults.add(rule);
    const step = stage.startCreate();
    await reach(step, stage.service.arrived({ endpoint: 'create-key' }));
    step.kill();
    const main = await step.done;
    const [first] = stage.made();
    // As by a proxy that sent the request twice.
    const second = plane.addKey(first?.name ?? '');
    faults.add({ path: `/api_keys/${first?.id}`, fault: { kind: 'status', status } });
    const post = await stage.runPost(main);

    expect(stage.made()).toEqual([first, second]);
    expect(plane.isAlive(first?.id ?? '')).toBe(true);
    expect(plane.isAlive(second.id), post.log).toBe(false);
    expect(stage.aftermath(main, post)).toMatchObject({ untold: [], shown: [], harmed: [] });
  });
}

for (const [leaving, { hasKey, givings: handed = Object.keys(givings), ...plot }] of Object.entries(leavings)) {
  for (const [giving, { hasParent, inputs }] of Object.entries(givings)) {
    if (!handed.includes(giving)) continue;
    for (const onFailure of hasKey || hasParent ? ['warn'] : ['warn', 'fail']) {
      test.concurrent(`main ${leaving}, and post gets ${giving} (${onFailure})`, async (context) => {
        const { expect } = context;
        const other = await setOther(context);
        const opposite = onFailure === 'warn' ? 'fail' : 'warn';
        const life = await live(context, {
          ...plot,
          inputs: { 'on-revoke-failure': onFailure },
          post: { inputs: { ...inputs(other), 'on-revoke-failure': opposite, 'revoke-in-post': 'false' } },
        });
        const { main, post, stage, alive } = life;

        expect(other.requests()).toEqual([]);
        expect(strangers(stage, hasParent)).toEqual([]);
        expect({ untold: life.untold, shown: life.shown, harmed: life.harmed }).toEqual({
          untold: [],
          shown: [],
          harmed: [],
        });
        expect(secretsShown([main, post], { minted: [], others: [other.key] }, stage.service.requests)).toEqual([]);
        if (hasKey || hasParent) {
          expect(alive).toEqual([]);
          expect(warningsOf(post)).toEqual([]);
          expect(post.exitCode).toBe(0);
          return;
        }
        const { id, name } = stage.made()[0] ?? {};
        expect(alive).toEqual([id]);
        expect(post.annotations).toEqual([
          expect.objectContaining({
            kind: onFailure === 'warn' ? 'warning' : 'error',
            message: expect.stringContaining(`${name}`),
          }),
        ]);
        expect(post.summary).toContain(name);
        expect(post.exitCode).toBe(onFailure === 'warn' ? 0 : 1);
        // There was no key to look with.
        expect(stage.service.requests).toHaveLength(1);
      });
    }
  }
}

test.concurrent('the parent key may come to post by its environment variable', async (context) => {
  const { expect } = context;
  const { stage, alive } = await live(context, {
    ...killed,
    post: { inputs: { mode: 'create-key' }, env: { CTL_API_KEY: parentKey } },
  });

  expect(stage.made()).toHaveLength(1);
  expect(alive).toEqual([]);
});

test.concurrent('a key of another step in that environment variable is not sent', async (context) => {
  const { expect } = context;
  const other = await setOther(context);
  const { stage, main, post, untold } = await live(context, {
    ...killed,
    post: { inputs: { mode: 'create-key' }, env: { CTL_API_KEY: other.key, CTL_BASE_URL: other.baseUrl } },
  });

  expect(other.requests()).toEqual([]);
  expect(strangers(stage, false)).toEqual([]);
  expect(secretsShown([main, post], { minted: [], others: [other.key] })).toEqual([]);
  expect(untold).toEqual([]);
});

for (const status of [403, 405]) {
  const rule: FaultRule = { endpoint: 'revoke-key', fault: { kind: 'status', status } };
  for (const [giving, inputs] of Object.entries({
    'no api-key': { 'api-key': '' },
    'another api-key': { 'api-key': 'ctl_of-another-step-0123456789abcdef' },
  })) {
    test.concurrent(`the service says ${status} to the minted key, and post gets ${giving}: no other is tried`, async (context) => {
      const { expect } = context;
      const { stage, main, post, alive, untold } = await live(context, {
        inputs: { 'on-revoke-failure': 'fail' },
        inPost: [rule],
        post: { inputs: { mode: 'create-key', ...inputs } },
      });

      expect(alive).toEqual([main.outputs['key-id']]);
      expect(untold).toEqual([]);
      expect(post.exitCode).toBe(1);
      expect(strangers(stage, false)).toEqual([]);
    });
  }
}

test.concurrent('two steps of one job revoke each its own, whatever inputs their posts get', async (context) => {
  const { expect } = context;
  const stage = await setKeyStage(context);
  const other = await setOther(context);
  const first = await stage.runCreate();
  const second = await stage.runCreate({}, { job: first.job });
  const [firstKey, secondKey] = stage.made();
  const sent = stage.service.requests.length;

  const postOfSecond = await stage.runPost(second, { inputs: { 'api-key': other.key, 'base-url': other.baseUrl } });
  expect(stage.service.plane.isAlive(firstKey?.id ?? '')).toBe(true);
  expect(stage.service.plane.isAlive(secondKey?.id ?? '')).toBe(false);
  const postOfFirst = await stage.runPost(first, { inputs: { 'api-key': secondKey?.key } });

  expect(stage.service.plane.isAlive(firstKey?.id ?? '')).toBe(false);
  expect(stage.service.requests.slice(sent).map(({ headers }) => headers['authorization'])).toEqual([
    `Bearer ${secondKey?.key}`,
    `Bearer ${firstKey?.key}`,
  ]);
  expect([...warningsOf(postOfFirst), ...warningsOf(postOfSecond)]).toEqual([]);
  expect(other.requests()).toEqual([]);
});

test.concurrent('a job whose main was refused has nothing to look for, whatever inputs post gets', async (context) => {
  const { expect } = context;
  const other = await setOther(context);
  const { stage, post } = await live(context, {
    inMain: [{ endpoint: 'create-key', fault: { kind: 'status', status: 403 } }],
    post: { inputs: { mode: 'create-key', 'api-key': other.key, 'base-url': other.baseUrl } },
  });

  expect(stage.service.requests).toHaveLength(1);
  expect(other.requests()).toEqual([]);
  expect({ output: post.output, exitCode: post.exitCode, summary: post.summary }).toEqual({
    output: '',
    exitCode: 0,
    summary: '',
  });
});

test.concurrent('a secret of signs is shown nowhere, and revokes itself', async (context) => {
  const { expect } = context;
  const stage = await setKeyStage(context);
  const { faults, plane } = stage.service;
  const secret = 'Yv5/Rk+1"Nc&8%Ew<4\\Ub~Gs{9}Lf?2=Ma^7#Tz\'Ox`Di';
  // The plane makes plain secrets: the answer is told to it, and the key is put where it says.
  const body = `{"id":9007199254741000,"key":${JSON.stringify(secret)}}`;
  faults.add({ endpoint: 'create-key', fault: { kind: 'status', status: 201, body } });
  const step = stage.startCreate();
  const { body: asked } = await reach(step, stage.service.ended({ endpoint: 'create-key' }));
  const main = await step.done;
  const key = plane.addKey((JSON.parse(asked) as { key_name: string }).key_name, secret);
  const post = await stage.runPost(main);

  expect(main.outputs).toMatchObject({ key: secret, 'key-id': key.id });
  expect(main.env).toMatchObject({ DATABASE_CONTROL_KEY: secret });
  expect(post.log).not.toContain(secret);
  expect(stage.aftermath(main, post)).toEqual({ alive: [], untold: [], shown: [], harmed: [] });
});

/** Another control plane, with a key of its own: nothing is to be heard of them. */
async function setOther(context: TestContext): Promise<Other & { requests(): readonly Exchange[] }> {
  const key = 'ctl_4u6tyr0wqz81mvbn37xkdjsh5g92lfpa';
  const { service } = await setStage(context, { apiKey: key });
  return { key, baseUrl: service.baseUrl, requests: () => service.requests };
}

/** Keys that were sent to the service and are neither the run's own nor, where post has it, the parent key. */
function strangers({ service, made }: KeyStage, mayUseParent: boolean): string[] {
  const ofMain = new Set(service.requests.filter(({ endpoint }) => endpoint === 'create-key').map(({ n }) => n));
  const afterMain = service.requests.filter(({ n }) => n > Math.max(...ofMain));
  const allowed = [...made().map(({ key }) => key), ...(mayUseParent ? [parentKey] : [])];
  return afterMain
    .map(({ headers }) => headers['authorization'] ?? '')
    .filter((header) => !allowed.some((key) => header === `Bearer ${key}`));
}
