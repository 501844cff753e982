import type { Run, StepRecord } from '../record.js';
import { creationOf, isAliveAt, isOver, isSweepable } from '../truth.js';

/** No step touches a key that it did not create and was not asked to revoke, nor one that is kept. */
export function* otherKeysStay(step: StepRecord, run: Run): Generator<string> {
  const { main, post, plan, processes } = step;
  const { expects } = plan;
  const sent = processes.flatMap((process) => process.sent);
  for (const id of new Set(sent.flatMap(({ deletedId }) => deletedId ?? []))) {
    const why = whyForeign(run, step, id);
    if (why !== undefined) yield `key ${id} was touched, ${why}`;
  }
  if (expects.mode !== 'create-key' || expects.revokes || main.exit !== 0) return;
  const kept = main.output('key-id') ?? '';
  if (post?.deletesOf(kept).length) yield `post touched key ${kept}, which is kept`;
}

function whyForeign(run: Run, step: StepRecord, id: string): string | undefined {
  const { expects } = step.plan;
  const keys = run.stage.keys();
  switch (expects.mode) {
    case 'create-key': {
      // The service itself may name another id as that of the new key.
      const isOurs = step.keys.some((key) => key.id === id) || !keys.some((key) => key.id === id);
      return isOurs ? undefined : 'which this step did not create';
    }
    case 'revoke-key': {
      if (expects.ids !== undefined) return expects.ids.includes(id) ? undefined : 'which no input names';
      const named = keys.filter(({ name }) => name === expects.name);
      if (!named.some((key) => key.id === id)) return 'which has another name';
      const listed = named.filter((key) => creationOf(key) <= step.main.startedAt - run.stage.lags.keys);
      const isClear = listed.filter((key) => isAliveAt(key, step.main.endedAt)).length <= 1;
      return isClear ? undefined : 'but others have its name';
    }
    case 'sweep-keys':
      return mayBeSwept(run, step, id) ? undefined : 'which a sweep must leave';
    default:
      return 'by a wait';
  }
}

function mayBeSwept(run: Run, { main, plan: { expects } }: StepRecord, id: string): boolean {
  const key = run.stage.keys().find((one) => one.id === id);
  if (expects.mode !== 'sweep-keys' || expects.dryRun || key === undefined || !isSweepable(key)) return false;
  const isOlder = (ms: number) => main.endedAt - creationOf(key) > ms;
  // If GitHub does not show the attempt, or not in time, the age of the key counts, and the sweep says so.
  const isUnseen = isOver(run, key) === 'unknown' || main.texts('warning', 'error').length > 0;
  return isOver(run, key) === 'yes' || (isUnseen && isOlder(expects.olderThanMs));
}
