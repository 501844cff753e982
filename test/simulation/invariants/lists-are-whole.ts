import { operationJson } from '../../../control-plane/operation.js';
import { parseJson } from '../formats.js';
import type { Expectation, Of } from '../plan.js';
import type { Fields, Run, StepRecord } from '../record.js';
import { epoch } from '../stage.js';
import { isAliveAt } from '../truth.js';

interface Listable {
  readonly id: string;
  readonly record: Fields;
  /** The service lists operations and projects newest first. The order of keys is open. */
  readonly createdAt: number;
}

type Listing = Of<'list-operations' | 'list-projects' | 'list-keys'>;

const outputOfIds = {
  'list-operations': 'operation-ids',
  'list-projects': 'project-ids',
  'list-keys': 'key-ids',
} as const;

/** No record that existed throughout is missing or listed twice. */
export function* listsAreWhole(step: StepRecord, run: Run): Generator<string> {
  const { main, plan } = step;
  const { expects } = plan;
  if (!isListing(expects)) return;
  if (step === run.steps.at(-1)) yield* wrongShards(run);
  const listed = idsOf(step);
  if (listed === undefined) return;
  if (new Set(listed).size < listed.length) yield 'a record is listed twice';
  if (!isShard(step) && !main.hasIncompleteList) yield* missing(run, step, expects, listed);
  if (expects.mode === 'list-operations' && expects.sinceMs !== undefined) {
    // `since` counts on the service's clock. The `Date` of the first page has whole seconds.
    const start = (epoch + main.startedAt - expects.sinceMs - 1_000) * 1_000;
    for (const { id, createdMicros } of run.stage.listedOperations(expects.projectId) ?? [])
      if (createdMicros < start && listed.includes(id)) yield `${id} is older than since`;
  }
  // fromJSON rounds large numbers, so each id is a string.
  const name = outputOfIds[expects.mode];
  if (JSON.stringify(main.ids(name)) !== JSON.stringify(listed)) yield `${name} is not the ids of the list as strings`;
  if (expects.mode === 'list-projects') yield* wrongBatches(step, expects.maxBatches, listed);
}

function isListing(expects: Expectation): expects is Listing {
  return expects.mode.startsWith('list-');
}

function isShard({ plan: { expects } }: StepRecord): boolean {
  return 'shard' in expects && expects.shard !== '';
}

/** In the result file of a step that succeeded. */
function idsOf({ main, plan }: StepRecord): string[] | undefined {
  if (main.exit !== 0 || main.resultFile === undefined) return undefined;
  const result = parseJson(main.resultFile) as Record<string, { id: unknown }[]>;
  return result[plan.mode.slice('list-'.length)]?.map(({ id }) => String(id)) ?? [];
}

function* missing(run: Run, step: StepRecord, expects: Listing, listed: readonly string[]): Generator<string> {
  const { limit, mode } = expects;
  const existing = existingThroughout(run, [step], expects);
  const absent = existing.filter(({ id }) => !listed.includes(id));
  if (limit === 0 || listed.length < limit)
    for (const { id } of absent) yield `${id} existed throughout and is missing`;
  else if (listed.length > limit) yield `${listed.length} records, but the limit is ${limit}`;
  else if (mode !== 'list-keys') {
    const oldest = Math.min(...existing.filter(({ id }) => listed.includes(id)).map(({ createdAt }) => createdAt));
    for (const { id, createdAt } of absent)
      if (createdAt > oldest) yield `${id} is newer than a listed record, and missing`;
  }
}

/** The records that existed from the first start of the steps to their last end, and that the filter admits. */
function existingThroughout({ stage }: Run, steps: readonly StepRecord[], expects: Listing): Listable[] {
  const start = Math.min(...steps.map(({ main }) => main.startedAt));
  const end = Math.max(...steps.map(({ main }) => main.endedAt));
  const records = (): Listable[] => {
    if (expects.mode === 'list-keys')
      return stage
        .keys()
        .filter((key) => isAliveAt(key, start - stage.lags.keys) && isAliveAt(key, end))
        .map(({ id, name, createdAt }) => ({ id, record: { id, name }, createdAt }));
    const lag = expects.mode === 'list-operations' ? stage.lags.operations : 0;
    const since = 'sinceMs' in expects && expects.sinceMs !== undefined ? epoch + end - expects.sinceMs : 0;
    const all =
      expects.mode === 'list-projects'
        ? stage.plane.projectTimeline.page(undefined, Number.POSITIVE_INFINITY).items
        : (stage.listedOperations(expects.projectId) ?? []);
    return all
      .filter(({ createdMicros }) => createdMicros < (epoch + start - lag) * 1_000 && createdMicros >= since * 1_000)
      .map((one) => ({
        id: 'record' in one ? one.record.id : one.id,
        record: 'record' in one ? one.record : JSON.parse(operationJson(one, epoch + end)),
        createdAt: one.createdMicros,
      }));
  };
  return records().filter(({ record }) => expects.filter(record));
}

/** At most `max-batches` arrays that differ in size by at most one and cover all. */
function* wrongBatches({ main }: StepRecord, maxBatches: number, listed: readonly string[]): Generator<string> {
  const batches = JSON.parse(main.output('batches') ?? '') as unknown[][];
  const sizes = batches.map(({ length }) => length);
  if (JSON.stringify(batches.flat()) !== JSON.stringify(listed)) yield 'the batches are not the ids of the list';
  if (batches.length > maxBatches) yield `${batches.length} batches, but max-batches is ${maxBatches}`;
  if (Math.max(...sizes, 0) - Math.min(...sizes, 256) > 1) yield 'the batches are uneven';
}

/** The shards of a matrix contain each project once. */
function* wrongShards(run: Run): Generator<string> {
  const shards = run.steps.flatMap((step) => (isShard(step) ? [idsOf(step)] : []));
  const expects = run.steps[0]?.plan.expects;
  const isPartial = run.steps.some(({ main }) => main.hasIncompleteList);
  if (shards.length === 0 || shards.includes(undefined) || isPartial || expects === undefined || !isListing(expects))
    return;
  const all = shards.flat();
  if (new Set(all).size < all.length) yield 'a project is in two shards';
  for (const { id } of existingThroughout(run, run.steps, expects))
    if (!all.includes(id)) yield `project ${id} is in no shard`;
}
