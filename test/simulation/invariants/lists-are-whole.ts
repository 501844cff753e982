import { operationJson } from '../../control-plane/operation.js';
import { parseJson } from '../formats.js';
import type { Expectation, Of } from '../plan.js';
import { output, type Run, type StepRecord } from '../record.js';
import { epoch } from '../stage.js';
import { isAliveAt, isIncompleteKeyList } from '../truth.js';

interface Listable {
  readonly id: string;
  readonly record: Readonly<Record<string, unknown>>;
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
export function listsAreWhole(run: Run): string[] {
  const shards: string[][] = [];
  const problems = run.steps.flatMap((step) => {
    const { main, plan } = step;
    const { expects } = plan;
    if (!isListing(expects) || main.exit !== 0 || main.resultFile === undefined) return [];
    const listed = idsOf(main.resultFile, expects.mode);
    const isShard = 'shard' in expects && expects.shard !== '';
    if (isShard) shards.push(listed);
    return [
      ...(new Set(listed).size === listed.length ? [] : ['a record is listed twice']),
      ...(isShard || main.sent.some(isIncompleteKeyList) ? [] : missing(run, step, expects, listed)),
      ...tooOld(run, step, expects, listed),
      // fromJSON rounds large numbers, so each id is a string.
      ...(JSON.stringify(JSON.parse(output(main, outputOfIds[expects.mode]) ?? '[]')) === JSON.stringify(listed)
        ? []
        : [`${outputOfIds[expects.mode]} is not the ids of the list as strings`]),
      ...(expects.mode === 'list-projects' ? wrongBatches(step, expects, listed) : []),
    ];
  });
  return [...problems, ...wrongShards(run, shards)];
}

function isListing(expects: Expectation): expects is Listing {
  return expects.mode.startsWith('list-');
}

function idsOf(resultFile: string, mode: Listing['mode']): string[] {
  const result = parseJson(resultFile) as Record<string, { id: unknown }[]>;
  return result[mode.slice('list-'.length)]?.map(({ id }) => String(id)) ?? [];
}

function missing(run: Run, step: StepRecord, expects: Listing, listed: readonly string[]): string[] {
  const { limit } = expects;
  if (limit > 0 && listed.length > limit) return [`${listed.length} records, but the limit is ${limit}`];
  const existing = existingThroughout(run, [step], expects);
  const absent = existing.filter(({ id }) => !listed.includes(id));
  if (limit === 0 || listed.length < limit) return absent.map(({ id }) => `${id} existed throughout and is missing`);
  if (expects.mode === 'list-keys') return [];
  const oldest = Math.min(...existing.filter(({ id }) => listed.includes(id)).map(({ createdAt }) => createdAt));
  return absent
    .filter(({ createdAt }) => createdAt > oldest)
    .map(({ id }) => `${id} is newer than a listed record, and missing`);
}

/** The records that existed from the first start of the steps to their last end, and that the filter admits. */
function existingThroughout({ stage }: Run, steps: readonly StepRecord[], expects: Listing): Listable[] {
  const start = Math.min(...steps.map(({ main }) => main.startedAt));
  const end = Math.max(...steps.map(({ main }) => main.endedAt));
  const listable = (): Listable[] => {
    switch (expects.mode) {
      case 'list-keys':
        return stage
          .keys()
          .filter((key) => isAliveAt(key, start) && isAliveAt(key, end))
          .map(({ id, name, createdAt }) => ({ id, record: { id, name }, createdAt }));
      case 'list-projects':
        return stage.plane.projectTimeline
          .page(undefined, Number.POSITIVE_INFINITY)
          .items.filter(({ createdMicros }) => createdMicros < (epoch + start) * 1_000)
          .map(({ record, createdMicros }) => ({ id: record.id, record, createdAt: createdMicros }));
      case 'list-operations': {
        const { sinceMs } = expects;
        const since = sinceMs === undefined ? 0 : epoch + end - sinceMs;
        return operationsOf(stage, expects)
          .filter(({ createdMicros }) => createdMicros < (epoch + start) * 1_000 && createdMicros >= since * 1_000)
          .map((operation) => ({
            id: operation.id,
            record: JSON.parse(operationJson(operation, epoch + end)),
            createdAt: operation.createdMicros,
          }));
      }
    }
  };
  return listable().filter(({ record }) => expects.filter(record));
}

function operationsOf({ plane }: Run['stage'], { projectId }: Of<'list-operations'>) {
  return plane.operationTimeline(projectId)?.page(undefined, Number.POSITIVE_INFINITY).items ?? [];
}

/** `since` counts on the service's clock. The `Date` of the first page has whole seconds. */
function tooOld({ stage }: Run, { main }: StepRecord, expects: Listing, listed: readonly string[]): string[] {
  if (expects.mode !== 'list-operations' || expects.sinceMs === undefined) return [];
  const start = (epoch + main.startedAt - expects.sinceMs - 1_000) * 1_000;
  return operationsOf(stage, expects).flatMap(({ id, createdMicros }) =>
    createdMicros < start && listed.includes(id) ? [`${id} is older than since`] : [],
  );
}

/** At most `max-batches` arrays that differ in size by at most one and cover all. */
function wrongBatches({ main }: StepRecord, { maxBatches }: Of<'list-projects'>, listed: readonly string[]): string[] {
  const batches = JSON.parse(output(main, 'batches') ?? '') as unknown[][];
  const sizes = batches.map(({ length }) => length);
  if (JSON.stringify(batches.flat()) !== JSON.stringify(listed)) return ['the batches are not the ids of the list'];
  if (batches.length > maxBatches) return [`${batches.length} batches, but max-batches is ${maxBatches}`];
  return Math.max(...sizes, 0) - Math.min(...sizes, 256) > 1 ? ['the batches are uneven'] : [];
}

/** The shards of a matrix contain each project once. */
function wrongShards(run: Run, shards: readonly (readonly string[])[]): string[] {
  const expects = run.steps[0]?.plan.expects;
  if (shards.length === 0 || shards.length < run.steps.length || expects === undefined || !isListing(expects))
    return [];
  const all = shards.flat();
  return [
    ...(new Set(all).size === all.length ? [] : ['a project is in two shards']),
    ...existingThroughout(run, run.steps, expects)
      .filter(({ id }) => !all.includes(id))
      .map(({ id }) => `project ${id} is in no shard`),
  ];
}
