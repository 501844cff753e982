import type { ApiKey } from '../../control-plane/index.js';
import { output, ownProcessesOf, parentOf, type Run, type StepRecord, texts } from '../record.js';
import { nameOfReused } from '../stage.js';
import { creationOf, idOfDelete, isAliveAt, isBelievedGone, isWholeKeyList, keysOf, wasCreatedLate } from '../truth.js';
import { isOver, isReallyOver, isSweepable } from './sweep.js';

/**
 * A step has at most one key alive while it runs, not counting keys that the service creates late. No step touches a key that
 * it did not create and was not asked to revoke.
 */
export function oneKeyAtATime(run: Run): string[] {
  return run.steps.flatMap((step) => [
    ...twoKeys(run, step),
    ...foreignKeys(run, step),
    ...keptKeyTouched(step),
    ...reusedIdTouched(run, step),
  ]);
}

function twoKeys(run: Run, step: StepRecord): string[] {
  const keys = keysOf(run, step).filter((key) => !wasCreatedLate(key, step));
  return keys.flatMap((key) => {
    const created = creationOf(key);
    return keys
      .filter((other) => other !== key && isAliveAt(other, created) && creationOf(other) <= created)
      .filter(({ id }) => !isBelievedGone(id, step.main.sent))
      .map((other) => `key ${key.id} was created while key ${other.id} was alive`);
  });
}

function foreignKeys(run: Run, step: StepRecord): string[] {
  const sent = ownProcessesOf(step).flatMap((process) => process.sent);
  const touched = new Set(sent.flatMap((one) => idOfDelete(one) ?? []));
  const keys = touched.size === 0 ? [] : run.stage.keys();
  const problems = [...touched].flatMap((id) => {
    const why = whyForeign(run, step, id, keys);
    return why === undefined ? [] : [`key ${id} was touched, ${why}`];
  });
  const isCreating = sent.some(({ method }) => method === 'POST');
  return isCreating && step.plan.mode !== 'create-key'
    ? [...problems, 'a POST of a mode that creates nothing']
    : problems;
}

function whyForeign(run: Run, step: StepRecord, id: string, keys: readonly ApiKey[]): string | undefined {
  const { expects } = step.plan;
  const key = keys.find((one) => one.id === id);
  switch (expects.mode) {
    case 'create-key':
      return key !== undefined && keysOf(run, step).includes(key) ? undefined : 'which this step did not create';
    case 'revoke-key': {
      if (expects.ids !== undefined) return expects.ids.includes(id) ? undefined : 'which no input names';
      const named = keys.filter(({ name }) => name === expects.name);
      if (key === undefined || !named.includes(key)) return 'which has another name';
      return named.filter((one) => isAliveAt(one, step.main.endedAt)).length > 1
        ? 'but others have its name'
        : undefined;
    }
    case 'sweep-keys':
      return mayBeSwept(run, step, key) ? undefined : 'which a sweep must leave';
    default:
      return `by ${expects.mode}`;
  }
}

function mayBeSwept(run: Run, { main, plan: { expects } }: StepRecord, key: ApiKey | undefined): boolean {
  if (expects.mode !== 'sweep-keys' || expects.dryRun || key === undefined || !isSweepable(key)) return false;
  if (isReallyOver(run, key)) return true;
  // If GitHub does not show the run, or not in time, the age of the key counts, and a warning says so.
  const isUnseen = isOver(run, key) === 'unknown' || texts(main, 'warning').length > 0;
  return isUnseen && main.endedAt - creationOf(key) > expects.olderThanMs;
}

/** `revoke-in-post: false` keeps the key. */
function keptKeyTouched({ main, post, plan: { expects } }: StepRecord): string[] {
  if (expects.mode !== 'create-key' || expects.revokes || main.exit !== 0) return [];
  const kept = output(main, 'key-id');
  return post?.sent.some((sent) => idOfDelete(sent) === kept) ? [`post touched key ${kept}, which is kept`] : [];
}

/** Once a list shows the id of a minted key under another name, the parent key does not touch that id. */
function reusedIdTouched({ stage }: Run, step: StepRecord): string[] {
  if (step.plan.mode !== 'create-key') return [];
  const parent = parentOf(step);
  return ownProcessesOf(step).flatMap(({ sent }) =>
    sent.flatMap((one) => {
      const id = idOfDelete(one) ?? '';
      // The minted key itself can do no harm, because the service rejects it by then.
      if (!stage.hasReused(id) || one.authorization !== parent) return [];
      const shown = `{"id":${id},"name":"${nameOfReused}"`;
      const wasShown = sent.some(
        (list) =>
          isWholeKeyList(list) &&
          list.n < one.n &&
          (list.endedAt ?? one.at) <= one.at &&
          list.response?.body.includes(shown) === true,
      );
      return wasShown ? [`key ${id} was touched after the list had shown it under another name`] : [];
    }),
  );
}
