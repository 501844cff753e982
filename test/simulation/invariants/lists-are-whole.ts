import { operationJson } from '../../../control-plane/operation.js';
import { parseJson } from '../formats.js';
import type { Of } from '../plan.js';
import type { Fields, Run, StepRecord } from '../record.js';
import { epoch } from '../stage.js';
import { isAliveAt } from '../truth.js';

type Listing = Of<'list-operations' | 'list-projects' | 'list-keys'>;

/** No record that existed throughout is missing or listed twice, in one list or in all shards of a matrix. */
export function* listsAreWhole(step: StepRecord, run: Run): Generator<string> {
  const { main, plan } = step;
  const { expects } = plan;
  if (!('limit' in expects)) return;
  const steps = 'shard' in expects && expects.shard !== '' ? run.steps : [step];
  const lists = steps.map(idsOf);
  if (!lists.includes(undefined)) {
    const all = lists.flatMap((ids = []) => ids);
    if (new Set(all).size < all.length) yield 'a record is listed twice';
    if (steps.every((one) => !one.main.hasIncompleteList)) yield* missing(run, steps, expects, all);
  }
  const listed = idsOf(step);
  if (listed === undefined) return;
  if (expects.mode === 'list-operations' && expects.sinceMs !== undefined) {
    // `since` counts on the service's clock. The `Date` of the first page has whole seconds.
    const start = (epoch + main.startedAt - expects.sinceMs - 1_000) * 1_000;
    for (const { id, createdMicros } of run.stage.listedOperations(expects.projectId) ?? [])
      if (createdMicros < start && listed.includes(id)) yield `${id} is older than since`;
  }
  // fromJSON rounds large numbers, so each id is a string.
  const name = `${expects.mode.slice('list-'.length, -1)}-ids`;
  if (JSON.stringify(main.ids(name)) !== JSON.stringify(listed)) yield `${name} is not the ids of the list as strings`;
  if (expects.mode === 'list-projects') yield* wrongBatches(step, expects.maxBatches, listed);
}

/** In the result file of a step that succeeded. */
function idsOf({ main, plan }: StepRecord): string[] | undefined {
  if (main.exit !== 0 || main.resultFile === undefined) return undefined;
  const result = parseJson(main.resultFile) as Record<string, { id: unknown }[]>;
  return result[plan.mode.slice('list-'.length)]?.map(({ id }) => String(id)) ?? [];
}

function* missing(run: Run, steps: readonly StepRecord[], expects: Listing, listed: readonly string[]) {
  const { limit, mode } = expects;
  const existing = existingThroughout(run, steps, expects);
  const absent = existing.filter(({ id }) => !listed.includes(id));
  if (limit === 0 || listed.length < limit)
    for (const { id } of absent) yield `${id} existed throughout and is missing`;
  else if (listed.length > limit) yield `${listed.length} records, but the limit is ${limit}`;
  // The service lists operations and projects newest first. The order of keys is open.
  else if (mode !== 'list-keys') {
    const oldest = Math.min(...existing.filter(({ id }) => listed.includes(id)).map(({ createdAt }) => createdAt));
    for (const { id, createdAt } of absent)
      if (createdAt > oldest) yield `${id} is newer than a listed record, and missing`;
  }
}

/** The records that existed from the first start of the steps to their last end, and that the filter admits. */
function existingThroughout({ stage }: Run, steps: readonly StepRecord[], expects: Listing) {
  const start = Math.min(...steps.map(({ main }) => main.startedAt));
  const end = Math.max(...steps.map(({ main }) => main.endedAt));
  const of = (id: string, record: Fields, createdAt: number) => ({ id, record, createdAt });
  const records = () => {
    switch (expects.mode) {
      case 'list-keys':
        return stage
          .keys()
          .filter((key) => isAliveAt(key, start - stage.lags.keys - 1) && isAliveAt(key, end))
          .map(({ id, name, createdAt }) => of(id, { id, name }, createdAt));
      case 'list-projects':
        return stage.plane.projectTimeline
          .page(undefined, Number.POSITIVE_INFINITY)
          .items.filter(({ createdMicros }) => createdMicros < (epoch + start) * 1_000)
          .map(({ record, createdMicros }) => of(record.id, record, createdMicros));
      default: {
        const since = expects.sinceMs === undefined ? 0 : (epoch + end - expects.sinceMs) * 1_000;
        const latest = (epoch + start - stage.lags.operations) * 1_000;
        return (stage.listedOperations(expects.projectId) ?? [])
          .filter(({ createdMicros }) => createdMicros < latest && createdMicros >= since)
          .map((one) => of(one.id, JSON.parse(operationJson(one, epoch + end)), one.createdMicros));
      }
    }
  };
  return records().filter(({ record }) => expects.filter(record));
}

/** At most `max-batches` arrays that differ in size by at most one and cover all. */
function* wrongBatches({ main }: StepRecord, maxBatches: number, listed: readonly string[]) {
  const batches = JSON.parse(main.output('batches') ?? '') as unknown[][];
  const sizes = batches.map(({ length }) => length);
  if (JSON.stringify(batches.flat()) !== JSON.stringify(listed)) yield 'the batches are not the ids of the list';
  if (batches.length > maxBatches) yield `${batches.length} batches, but max-batches is ${maxBatches}`;
  if (Math.max(...sizes, 0) - Math.min(...sizes, 256) > 1) yield 'the batches are uneven';
}
