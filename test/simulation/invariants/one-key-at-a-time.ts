import type { ApiKey } from '../../control-plane/index.js';
import { output, ownProcessesOf, type Run, type Sent, type StepRecord, said } from '../record.js';
import { nameOfReused } from '../stage.js';
import { bornAt, idOfDelete, isAliveAt, isKeyList, keysOf, wasLate, wasSaidToBeGone } from '../truth.js';
import { isOver, isReallyOver, isSweepable } from './sweep.js';

/**
 * At most one key alive of one step while it runs, but for one that the service made after its request was given up; never a
 * key touched that the step did not make, or was not told to revoke.
 */
export function oneKeyAtATime(run: Run): string[] {
  return run.steps.flatMap((step) => [...many(run, step), ...foreign(run, step)]);
}

function many(run: Run, step: StepRecord): string[] {
  const keys = keysOf(run, step).filter((key) => !wasLate(key, step));
  return keys.flatMap((key) => {
    const others = keys.filter(
      (other) => other !== key && isAliveAt(other, bornAt(key)) && bornAt(other) <= bornAt(key),
    );
    return others
      .filter(({ id }) => !wasSaidToBeGone(id, step.main.sent))
      .map((other) => `key ${key.id} was made while key ${other.id} was alive`);
  });
}

function foreign(run: Run, step: StepRecord): string[] {
  const { mode } = step.plan;
  const keys = run.stage.keys();
  const sent = ownProcessesOf(step).flatMap((process) => process.sent);
  const touched = sent.flatMap((one) => idOfDelete(one) ?? []);
  const problems =
    new Set(touched).size === 0
      ? []
      : [...new Set(touched)].flatMap((id) =>
          isForeign(
            run,
            step,
            id,
            keys.find((key) => key.id === id),
          ),
        );
  problems.push(...keptKeyTouched(step), ...reusedIdTouched(run, step));
  if (mode !== 'create-key' && sent.some(({ method }) => method === 'POST'))
    problems.push('a POST where nothing is to be made');
  return problems;
}

/** revoke-in-post: false means it. */
function keptKeyTouched({ main, post, plan: { expects } }: StepRecord): string[] {
  if (expects.mode !== 'create-key' || expects.revokes || main.exit !== 0) return [];
  const kept = output(main, 'key-id');
  return post?.sent.some((sent) => idOfDelete(sent) === kept) ? [`key ${kept} was handed on, and post touched it`] : [];
}

/** Who has seen a list that shows the id of a minted key under another name does not name that id again. */
function reusedIdTouched({ stage }: Run, step: StepRecord): string[] {
  if (step.plan.mode !== 'create-key') return [];
  const parent = step.main.sent[0]?.authorization;
  return ownProcessesOf(step).flatMap(({ sent }) =>
    sent.flatMap((one) => {
      const id = idOfDelete(one) ?? '';
      // The minted key itself is not accepted any more, and can do no harm.
      if (!stage.hasReused(id) || one.authorization !== parent) return [];
      const shown = `{"id":${id},"name":"${nameOfReused}"`;
      const wasTold = (list: Sent) =>
        isKeyList(list) &&
        list.n < one.n &&
        (list.endedAt ?? one.at) <= one.at &&
        list.answer?.body.includes(shown) === true;
      return sent.some(wasTold) ? [`key ${id} was touched, though the list had shown it under another name`] : [];
    }),
  );
}

function isForeign(run: Run, step: StepRecord, id: string, key: ApiKey | undefined): string[] {
  const { expects } = step.plan;
  switch (expects.mode) {
    case 'create-key':
      return key !== undefined && keysOf(run, step).includes(key)
        ? []
        : [`key ${id} was touched, which is not of this step`];
    case 'revoke-key': {
      if (expects.ids !== undefined)
        return expects.ids.includes(id) ? [] : [`key ${id} was touched, which nobody named`];
      const namesakes = run.stage.keys().filter(({ name }) => name === expects.name);
      const alive = namesakes.filter((one) => isAliveAt(one, step.main.endedAt));
      if (key === undefined || !namesakes.includes(key)) return [`key ${id} was touched, which does not bear the name`];
      return alive.length > 1 ? [`key ${id} was touched, though others bear its name`] : [];
    }
    case 'sweep-keys':
      return mayBeSwept(run, step, key) ? [] : [`key ${id} was touched, though it is not to be swept`];
    default:
      return [`key ${id} was touched by ${expects.mode}`];
  }
}

function mayBeSwept(run: Run, step: StepRecord, key: ApiKey | undefined): boolean {
  const { expects } = step.plan;
  if (expects.mode !== 'sweep-keys' || expects.dryRun || key === undefined || !isSweepable(key)) return false;
  if (isReallyOver(run, key)) return true;
  // Where GitHub does not tell, or not in time, age alone counts; and the user hears of it.
  const isUnseen = isOver(run, key) === 'unknown' || said(step.main, 'warning').length > 0;
  return isUnseen && step.main.endedAt - bornAt(key) > expects.olderThanMs;
}
