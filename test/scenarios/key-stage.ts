import type { TestContext } from 'vitest';
import {
  type ApiKey,
  type Awaited,
  type ControlPlane,
  createControlPlane,
  type FaultRule,
} from '../control-plane/index.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';
import { secretsShown } from './leaks.js';
import { reach } from './reach.js';
import { quickDice } from './sabotage.js';
import { type Stage, setStage } from './stage.js';

/** With signs that JSON, URLs, HTML and the runner's commands write in other ways. */
export const parentKey = 'Qx7/Wm+4"Lk&9%Zs<2\\Vb~Ht{6}Jd?8=Pf^3#Ng';
/** Beyond 2^53: digits must not be lost, and no other number of a log looks like it. */
const firstKeyId = 9_007_199_254_740_993n;
export const exported = 'DATABASE_CONTROL_KEY';

export interface KeyStage extends Stage {
  /** `create-key` with much time, and short back-off. */
  startCreate(inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): StepHandle;
  runCreate(inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): Promise<StepResult>;
  /** All that the run made, revoked ones too. */
  made(): ApiKey[];
  /** What is so when main and post have ended. */
  aftermath(main: StepResult, post: StepResult): Aftermath;
}

export interface Aftermath {
  /** Ids of keys that the run made and left alive. */
  readonly alive: readonly string[];
  /** Those of them that no warning and no error names, be it by id or by name. */
  readonly untold: readonly string[];
  readonly shown: readonly string[];
  /** Names of keys of others that are gone. */
  readonly harmed: readonly string[];
}

/** The key that the run will make, known beforehand: the plane's dice fall alike every time. */
export function keyToCome(): ApiKey {
  const { plane } = createControlPlane({ apiKey: parentKey, firstKeyId });
  addOthers(plane);
  return plane.addKey('');
}

export async function setKeyStage(context: TestContext): Promise<KeyStage> {
  const stage = await setStage(context, { apiKey: parentKey, firstKeyId });
  const { service } = stage;
  const { plane } = service;
  const others = [...plane.aliveKeys(), ...addOthers(plane)];
  // As soon as its name is known, keys appear that have nearly the same.
  service.arrived({ endpoint: 'create-key' }).then(
    ({ body }) => {
      const { key_name: name } = JSON.parse(body) as { key_name: string };
      others.push(...[`${name}0`, name.slice(0, -1), name.toUpperCase(), ` ${name}`].map((near) => plane.addKey(near)));
    },
    () => undefined,
  );
  const startCreate: KeyStage['startCreate'] = (inputs, options) =>
    stage.startMode(
      'create-key',
      { timeout: '5m', 'request-timeout': '1m', 'export-env': exported, ...inputs },
      { debug: true, nodeArgs: quickDice, ...options },
    );
  const made = () => keysOf(stage).filter((key) => !others.includes(key));
  return {
    ...stage,
    startCreate,
    runCreate: (inputs, options) => startCreate(inputs, options).done,
    startPost: (from, options) => stage.startPost(from, { nodeArgs: [], ...options }),
    runPost: (from, options) => stage.startPost(from, { nodeArgs: [], ...options }).done,
    made,
    aftermath: (main, post) => {
      const alive = made().filter(({ id }) => plane.isAlive(id));
      const told = alarms([main, post]);
      return {
        alive: alive.map(({ id }) => id),
        untold: alive
          .filter(({ id, name }) => !new RegExp(`\\b(${id}|${name})(?![\\w-])`).test(told))
          .map(({ id }) => id),
        shown: secretsShown(
          [main, post],
          { minted: made().map(({ key }) => key), others: others.map(({ key }) => key), variable: exported },
          service.requests,
        ),
        harmed: others.filter(({ id }) => !plane.isAlive(id)).map(({ name }) => name),
      };
    },
  };
}

function addOthers(plane: ControlPlane): ApiKey[] {
  return [plane.addKey('another tool'), plane.addKey('shop-run9876543210-1-aaaaaaaaaa-aaaaaaaaaaaa')];
}

function keysOf({ service }: Stage): ApiKey[] {
  const keys: ApiKey[] = [];
  for (let id = firstKeyId; ; id++) {
    const key = service.plane.key(String(id));
    if (key === undefined) return keys;
    keys.push(key);
  }
}

function alarms(results: readonly StepResult[]): string {
  return results
    .flatMap(({ annotations }) => annotations)
    .filter(({ kind, source }) => source === 'action' && kind !== 'notice')
    .map(({ message }) => message)
    .join('\n');
}

/** What happens to a key's run, first to main and then to post. */
export interface Plot {
  readonly inMain?: readonly FaultRule[];
  readonly inPost?: readonly FaultRule[];
  /** What is done while main works. */
  readonly meanwhile?: (main: StepHandle, stage: KeyStage) => Promise<unknown>;
  readonly inputs?: StepOptions['inputs'];
  readonly options?: Omit<StepOptions, 'inputs'>;
  readonly post?: StepOptions;
}

export interface Life extends Aftermath {
  readonly stage: KeyStage;
  readonly main: StepResult;
  readonly post: StepResult;
  /** What was alive between main and post. */
  readonly aliveBetween: readonly ApiKey[];
}

export async function live(context: TestContext, plot: Plot): Promise<Life> {
  const stage = await setKeyStage(context);
  const { faults, plane } = stage.service;
  for (const rule of plot.inMain ?? []) faults.add(rule);
  const step = stage.startCreate(plot.inputs, plot.options);
  await plot.meanwhile?.(step, stage);
  const main = await step.done;
  const aliveBetween = stage.made().filter(({ id }) => plane.isAlive(id));
  faults.clear();
  for (const rule of plot.inPost ?? []) faults.add(rule);
  const post = await stage.runPost(main, plot.post);
  return { stage, main, post, aliveBetween, ...stage.aftermath(main, post) };
}

/** Kills main when that request has arrived. */
export function killAt(awaited: Awaited): NonNullable<Plot['meanwhile']> {
  return async (main, { service }) => {
    await reach(main, service.arrived(awaited));
    main.kill();
  };
}
