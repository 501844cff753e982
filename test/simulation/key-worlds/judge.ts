import { nothingToRevoke, postStateName } from '../../../src/keys/post-state-name.js';
import { mainWork, postWork } from '../../kit/virtual-step.js';
import { FakeWorkflowRuns } from '../../kit/workflow-runs.js';
import { VirtualClock } from '../../virtual/clock.js';
import { isDue, type PostWorld } from '../alarms.js';
import { type ProcessRecord, stateOf } from '../record.js';
import { runRecorded } from '../recorded.js';
import { parentKey, type Sent, serveKeys, type TrueKey, tripMs } from './service.js';
import type { KeyWorld } from './world.js';

const inputs = { mode: 'create-key', 'base-url': 'https://control.test/v2' };
const environment = {
  GITHUB_RUN_ID: '7700',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_STATE: 'state',
  GITHUB_OUTPUT: 'output',
};
const tenMinutes = 600_000;
/** By then the service has carried out every late request. */
const lateRequestsMs = 60_000;

export type Outcome = Awaited<ReturnType<typeof runWorld>>;

/** Runs create-key and its post in a world, and judges both by the truth of that world. */
export async function runWorld(world: KeyWorld) {
  const clock = new VirtualClock();
  const service = serveKeys(world, clock);
  const foreign = [service.add('shop-run7700-1'), service.add('another tool')];
  const run = (part: 'main' | 'post', state: string) => runPart(world, clock, service, part, state);

  async function play() {
    const main = await run('main', '');
    const state = stateOf(main);
    await clock.sleep((service.keys.slice(3).at(-1)?.createdAt ?? 0) + world.age * 1_000 - clock.now());
    const minted = service.keys.slice(3).find(({ secret }) => state.includes(secret));
    for (const key of revokedBetween(world, service.keys, minted)) key.revokedAt = Math.min(key.revokedAt, clock.now());
    service.began.post = clock.now();
    const post = state === '' || state === nothingToRevoke ? undefined : await run('post', state);
    await clock.sleep(lateRequestsMs);
    return { main, post, minted };
  }

  const { main, post, minted } = await clock.run(play());
  const made = service.keys.slice(3);
  const job: Job = { world, main, post, minted, made, foreign, sent: service.sent, beganAt: service.began.post };
  const requests = (part: 'main' | 'post') => service.sent.filter((one) => one.part === part).length;
  return {
    job,
    requests: { main: requests('main'), post: requests('post') },
    messages: main.messages.length,
    alarms: post?.texts('warning', 'error') ?? [],
    violation: [...violationsOf(job)][0],
  };
}

function revokedBetween({ between }: KeyWorld, [parent, ...rest]: readonly TrueKey[], minted: TrueKey | undefined) {
  if (between === 'all keys revoked') return rest.slice(2);
  return [between === 'parent key revoked' ? parent : between === 'minted key revoked' ? minted : undefined].flatMap(
    (key) => key ?? [],
  );
}

function runPart(
  { hasParent, isKept, jitter, clocks, killedAt }: KeyWorld,
  clock: VirtualClock,
  service: ReturnType<typeof serveKeys>,
  part: 'main' | 'post',
  state: string,
): Promise<ProcessRecord> {
  const isMain = part === 'main';
  const ahead = { 'runner ahead': tenMinutes, 'runner behind': -tenMinutes, 'runner jumps': isMain ? 0 : tenMinutes };
  const saved = { [`STATE_${postStateName}`]: state };
  return runRecorded({
    part,
    clock,
    inputs: {
      ...inputs,
      ...(isMain || hasParent ? { 'api-key': parentKey } : {}),
      ...(isKept ? { 'revoke-in-post': 'false' } : {}),
    },
    interruption: isMain && killedAt ? { what: 'kill', on: killedAt.what, nth: killedAt.nth, ms: 0 } : undefined,
    connect: (_, count) => service.connect(part, () => count('request')),
    work: isMain ? mainWork(new FakeWorkflowRuns(clock.sleep)) : postWork(saved),
    environment: { ...environment, ...saved },
    random: () => jitter,
    clockAheadMs: ahead[clocks as keyof typeof ahead] ?? 0,
    limitMs: isMain ? 3_600_000 : 30_000,
  });
}

interface Job {
  readonly world: KeyWorld;
  readonly main: ProcessRecord;
  readonly post: ProcessRecord | undefined;
  /** The key that the state names. */
  readonly minted: TrueKey | undefined;
  /** All keys of the step. */
  readonly made: readonly TrueKey[];
  readonly foreign: readonly TrueKey[];
  readonly sent: readonly Sent[];
  /** When post began. */
  readonly beganAt: number;
}

const isAlive = ({ revokedAt }: TrueKey) => revokedAt === Number.POSITIVE_INFINITY;

function* violationsOf(job: Job): Generator<string> {
  const { world, main, post, minted, made, foreign, beganAt } = job;
  const isNamedByService = world.faults?.some(({ what }) => what === 'id of another') === true;
  const alarms = post?.texts('warning', 'error') ?? [];
  const delivered = main.output('status') === 'ok' ? main.output('key-id') : undefined;
  const kept = world.isKept ? delivered : undefined;
  for (const key of made) {
    const { id, name } = key;
    const isNamed = alarms.some(
      (text) => text.includes(id) || ((key !== minted || isNamedByService) && text.includes(name)),
    );
    if (isAlive(key) && id !== kept && !isNamed) yield `key ${id} works after the job, and nobody was told`;
    if (id === kept && main.exit === 0 && !isAlive(key) && world.between === undefined)
      yield `key ${id} is kept, and was revoked`;
    if (main.exit === 0 && minted === key && key.revokedAt < beganAt && world.between === undefined)
      yield 'main succeeded, and its key is revoked';
  }
  for (const key of foreign) if (!isAlive(key) && !isNamedByService) yield `a key of another was revoked: ${key.name}`;
  const said = [main, post].flatMap((one) => one?.texts('info', 'notice', 'warning', 'error', 'summary') ?? []);
  if (made.some(({ secret }) => said.some((text) => text.includes(secret))))
    yield 'a key stands in the log or the summary';
  for (const one of [main, post])
    if (one?.crash !== undefined || one?.exit === 'hung') yield `${one.part} crashed or hung: ${one.crash}`;
  if (post !== undefined && post.endedAt - beganAt > 20_000) yield 'post took more than 20 s';
  if (!isNamedByService)
    for (const alarm of alarms) if (!isDue(alarm, postWorldOf(job))) yield `an alarm in a healthy world: ${alarm}`;
}

function postWorldOf(job: Job): PostWorld {
  const { world, minted, made, sent, beganAt } = job;
  const ofPost = sent.filter(({ part }) => part === 'post');
  const troubled = ofPost.filter(({ wrong }) => wrong !== undefined);
  const hold = troubled.some(({ wrong }) => wrong === '429') ? 2_000 : 0;
  const isAccepted = ({ method, url, status = 0 }: Sent) =>
    method === 'DELETE' && url.pathname.endsWith(`/${minted?.id}`) && status >= 200 && status < 300;
  const ofParent = world.between === 'parent key revoked' ? 'revoked' : 'valid';
  return {
    beganAt,
    troublesEnd: Math.max(beganAt, ...troubled.map(({ endedAt }) => (endedAt ?? beganAt) + hold)),
    isMisled: troubled.some(({ wrong }) => wrong?.startsWith('accepted')),
    unknownMs: world.unknown * 1_000,
    acceptedMs: world.accepted * 1_000,
    tripMs,
    parent: world.hasParent ? ofParent : 'missing',
    minted,
    isAccepted: ofPost.some(isAccepted),
    strays: made.filter((key) => key !== minted && key.revokedAt > beganAt),
    isSaid: () => world.says === 'revoked',
    lost: mostLost(job),
  };
}

/** The creates that may have made a key which main could not save, for all that main can know. */
function mostLost({ main, minted, sent }: Job): number {
  const creates = sent.filter(({ part, method }) => part === 'main' && method === 'POST');
  const proved = [401, 403, 404, 429];
  const isOpen = ({ status, wrong }: Sent) =>
    !(status !== undefined && proved.includes(status) && wrong !== 'page 404');
  const lost = creates.filter(isOpen).length - (minted === undefined ? 0 : 1);
  // A kill may come between the state that announces a create and the create, or between a response and its state.
  const isWaiting = creates.some(({ endedAt = Number.POSITIVE_INFINITY }) => endedAt >= main.endedAt);
  return main.exit === 'killed' && !isWaiting ? lost + 1 : lost;
}
