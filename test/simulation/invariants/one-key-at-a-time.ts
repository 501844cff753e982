import { excuses } from '../excuses.js';
import type { Run, SentRequest, StepRecord } from '../record.js';
import { nameOfReused } from '../stage.js';
import { creationOf, isAliveAt, isGitHubClear, isOver, isSweepable } from '../truth.js';

/**
 * A step has at most one key alive while it runs, not counting keys that the service creates late. No step touches a key that
 * it did not create and was not asked to revoke.
 */
export function* oneKeyAtATime(step: StepRecord, run: Run): Generator<string> {
  const { main, post, plan, processes } = step;
  const { expects } = plan;
  yield* twoKeys(step, run.stage.lags.keys);
  const sent = processes.flatMap((process) => process.sent);
  for (const id of new Set(sent.flatMap(({ deletedId }) => deletedId ?? []))) {
    const why = whyForeign(run, step, id);
    if (why !== undefined) yield `key ${id} was touched, ${why}`;
  }
  if (expects.mode !== 'create-key') return;
  const kept = expects.revokes || main.exit !== 0 ? undefined : main.output('key-id');
  if (kept !== undefined && post?.deletesOf(kept).length) yield `post touched key ${kept}, which is kept`;
  yield* reusedIdTouched(step, run);
}

function* twoKeys({ keys, main }: StepRecord, lagMs: number) {
  // A late key was created after its request was given up.
  const inTime = keys.filter(({ createdAt }) =>
    main.sent.some(({ method, arrived }) => method === 'POST' && arrived?.at === createdAt),
  );
  for (const key of inTime)
    for (const other of inTime) {
      const created = creationOf(key);
      if (other === key || !isAliveAt(other, created) || creationOf(other) > created) continue;
      // The search between the two creates may have read a list that did not show it yet.
      const n = main.sent.find(({ method, arrived }) => method === 'POST' && arrived?.at === other.createdAt)?.n ?? 0;
      const searchedAt = main.sent.find((one) => one.keyList === 'whole' && one.n > n)?.at ?? 0;
      if (creationOf(other) <= searchedAt - lagMs && !excuses.isThoughtGone(main, other))
        yield `key ${key.id} was created while key ${other.id} was alive`;
    }
}

function whyForeign(run: Run, step: StepRecord, id: string): string | undefined {
  const { expects } = step.plan;
  const keys = run.stage.keys();
  switch (expects.mode) {
    case 'create-key':
      return step.keys.some((key) => key.id === id) ? undefined : 'which this step did not create';
    case 'revoke-key': {
      if (expects.ids !== undefined) return expects.ids.includes(id) ? undefined : 'which no input names';
      const named = keys.filter(({ name }) => name === expects.name);
      if (!named.some((key) => key.id === id)) return 'which has another name';
      const listed = named.filter((key) => !excuses.isUnlisted(step.main, key, run.stage.lags.keys));
      const alive = listed.filter((key) => isAliveAt(key, step.main.endedAt));
      return alive.length > 1 ? 'but others have its name' : undefined;
    }
    case 'sweep-keys':
      return mayBeSwept(run, step, id) ? undefined : 'which a sweep must leave';
    default:
      return `by ${expects.mode}`;
  }
}

function mayBeSwept(run: Run, { main, plan: { expects } }: StepRecord, id: string): boolean {
  const key = run.stage.keys().find((one) => one.id === id);
  if (expects.mode !== 'sweep-keys' || expects.dryRun || key === undefined || !isSweepable(key)) return false;
  // If GitHub does not show the attempt, or not in time, the age of the key counts, and a warning says so.
  const isUnseen = isOver(run, key) === 'unknown' || !isGitHubClear(run) || main.hasWarning;
  return isOver(run, key) === 'yes' || (isUnseen && main.endedAt - creationOf(key) > expects.olderThanMs);
}

/** Once a list shows the id of a minted key under another name, the parent key does not touch that id. */
function* reusedIdTouched({ main, processes, parent }: StepRecord, { stage }: Run) {
  for (const process of processes)
    for (const { deletedId: id = '', n, at, authorization } of process.sent) {
      const former = stage.former.get(id);
      // The minted key itself can do no harm, because the service rejects it by then.
      if (former === undefined || authorization !== parent) continue;
      const lists = process.sent.filter((one) => one.keyList === 'whole' && one.n < n && (one.endedAt ?? at) <= at);
      const show = (name: string) => (one: SentRequest) => one.response?.body.includes(`{"id":${id},"name":"${name}"`);
      // A create that was lost has no id, so main knows the key only from the first list that shows it.
      const known = process === main ? lists.slice(lists.findIndex(show(former.name))) : lists;
      if (known.some(show(nameOfReused))) yield `key ${id} was touched after the list had shown it under another name`;
    }
}
