import type { TestContext } from 'vitest';
import type { ApiKey, Exchange, FaultRule, Awaited as RequestToAwait } from '../../control-plane/index.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';
import { shortPauses } from './preload.js';
import { secretsShown } from './secrets-shown.js';
import { ours, type Stage, type StageOptions, setStage } from './stage.js';

/** With characters that JSON, URLs, HTML and the runner's commands escape. */
export const parentKey = 'Qx7/Wm+4"Lk&9%Zs<2\\Vb~Ht{6}Jd?8=Pf^3#Ng';
/** The id of the parent key. No other number of a log looks like it. */
const parentId = 9_007_199_244_740_993n;

export type KeyStage = Awaited<ReturnType<typeof setKeyStage>>;

/** Ids of made keys that are alive after post, and of those that no warning or error names; names of revoked keys of others. */
type Leftovers = Record<'alive' | 'unnamed' | 'secretsShown' | 'othersRevoked', string[]>;
export const noLeftovers: Leftovers = { alive: [], unnamed: [], secretsShown: [], othersRevoked: [] };

type KeyStageOptions = Pick<StageOptions, 'overSockets' | 'trip' | 'clockAheadMs' | 'dateAheadMs' | 'replicaFor'>;

/** A stage for `create-key` and its post step, with keys of others. A replica that lags also lags in what keys it knows. */
export async function setKeyStage(context: TestContext, options: KeyStageOptions = {}) {
  const replicasAuthenticate = options.replicaFor !== undefined;
  const ofService = { apiKey: parentKey, firstKeyId: parentId, replicasAuthenticate };
  const stage = await setStage(context, { ...ofService, ...options });
  const { service } = stage;
  const { plane } = service;
  const others = [...plane.aliveKeys(), plane.addKey('another tool')];
  others.push(plane.addKey(`shop-run9876543210-1-${ours}-aaaaaaaaaaaa`));
  // Keys of nearly the same name appear as soon as the name is known.
  const addNear = ({ body }: Exchange) => {
    const { key_name: name } = JSON.parse(body) as { key_name: string };
    const near = [`${name}0`, `x${name}`, name.slice(0, -1), name.slice(1), name.toUpperCase(), ` ${name}`];
    others.push(...near.map((one) => plane.addKey(one)));
  };
  service.arrived({ endpoint: 'create-key' }).then(addNear, () => undefined);
  const startCreate = (inputs?: StepOptions['inputs'], more?: Omit<StepOptions, 'inputs'>) =>
    stage.startMode('create-key', inputs, { debug: true, ...more });
  /** The keys of the step's name, revoked ones too. */
  const made = () => keysOf(stage).filter((key) => !others.includes(key));
  const leftovers = (main: StepResult, post: StepResult): Leftovers => {
    const alive = made().filter(({ id }) => plane.isAlive(id));
    const annotations = [main, post].flatMap((result) => result.annotations);
    const alarms = annotations.filter(({ kind, source }) => source === 'action' && kind !== 'notice');
    const isNamed = ({ id, name }: ApiKey) =>
      alarms.some(({ message }) => new RegExp(`\\b(${id}|${name})(?![\\w-])`).test(message));
    const known = { minted: made().map(({ key }) => key), others: others.map(({ key }) => key) };
    return {
      alive: alive.map(({ id }) => id),
      unnamed: alive.filter((key) => !isNamed(key)).map(({ id }) => id),
      secretsShown: secretsShown([main, post], known),
      othersRevoked: others.filter(({ id }) => !plane.isAlive(id)).map(({ name }) => name),
    };
  };
  return { ...stage, startCreate, made, leftovers };
}

function keysOf({ service }: Stage): ApiKey[] {
  const keys: ApiKey[] = [];
  for (let id = parentId; ; id++) {
    const key = service.plane.key(String(id));
    if (key === undefined) return keys;
    keys.push(key);
  }
}

export interface JobPlan extends KeyStageOptions {
  readonly inMain?: readonly FaultRule[];
  readonly inPost?: readonly FaultRule[];
  readonly duringMain?: (main: StepHandle, stage: KeyStage) => Promise<unknown>;
  readonly beforePost?: (stage: KeyStage, main: StepResult) => unknown;
  readonly duringPost?: (post: StepHandle, stage: KeyStage) => Promise<unknown>;
  readonly inputs?: StepOptions['inputs'];
  readonly options?: Omit<StepOptions, 'inputs'>;
  readonly post?: StepOptions;
}

export type FinishedJob = Awaited<ReturnType<typeof runJob>>;

export async function runJob(context: TestContext, plan: JobPlan) {
  const { inMain = [], inPost = [], duringMain, beforePost, duringPost, inputs, options, post: ofPost, ...more } = plan;
  const stage = await setKeyStage(context, more);
  const { faults, plane, requests } = stage.service;
  for (const rule of inMain) faults.add(rule);
  const step = stage.startCreate(inputs, { ...(more.overSockets && { nodeArgs: shortPauses }), ...options });
  await duringMain?.(step, stage);
  const main = await step.done;
  const sentByMain = requests.length;
  const aliveBetween = stage.made().flatMap(({ id }) => (plane.isAlive(id) ? [id] : []));
  faults.clear();
  for (const rule of inPost) faults.add(rule);
  await beforePost?.(stage, main);
  const beganAt = plane.clock.now();
  const postStep = stage.startPost(main, { ...(more.overSockets && { nodeArgs: [] }), ...ofPost });
  await duringPost?.(postStep, stage);
  const post = await postStep.done;
  const sent = requests.slice(sentByMain);
  return {
    ...stage,
    main,
    post,
    aliveBetween,
    /** Requests of post: `DELETE minted by minted`, `GET by parent`. Other keys of the step's name are `stray`. */
    requests: sent.map((request) => describeRequest(request, stage, main)),
    /** When post sent them, in milliseconds after its start. */
    sentAt: sent.map(({ at }) => at - beganAt),
    left: stage.leftovers(main, post),
  };
}

function describeRequest({ method, path, headers }: Exchange, stage: KeyStage, main: StepResult): string {
  const keys = keysOf(stage);
  const roleOf = (key: ApiKey | undefined) => {
    if (key === undefined) return 'unknown';
    if (key.key === parentKey) return 'parent';
    if (key.id === main.outputs['key-id']) return 'minted';
    return stage.made().includes(key) ? 'stray' : 'other';
  };
  const subject = method === 'DELETE' ? ` ${roleOf(keys.find(({ id }) => path.endsWith(`/${id}`)))}` : '';
  return `${method}${subject} by ${roleOf(keys.find(({ key }) => headers['authorization'] === `Bearer ${key}`))}`;
}

export function killAt(awaited: RequestToAwait): NonNullable<JobPlan['duringMain']> {
  return async (main, { service }) => {
    await main.reach(service.arrived(awaited));
    main.kill();
  };
}
