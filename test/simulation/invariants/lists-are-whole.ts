import { type JsonObject, parseJson, toText } from '../../../src/text/json.js';
import { operationJson } from '../../control-plane/operation.js';
import type { Expectation } from '../plan.js';
import { output, type Run, type StepRecord } from '../record.js';
import { epoch } from '../stage.js';
import { isAliveAt, isIncompleteKeyList } from '../truth.js';

interface There {
  readonly id: string;
  readonly record: Readonly<Record<string, unknown>>;
  /** Newest first is the order of the service; of keys nothing is promised. */
  readonly made: number;
}

type Listing = Extract<Expectation, { mode: `list-${string}` }>;

/** Nothing that was there throughout is missing or doubled. */
export function listsAreWhole(run: Run): string[] {
  const shares = new Map<string, string[]>();
  const problems = run.steps.flatMap((step) => {
    const { expects } = step.plan;
    if (!isListing(expects) || step.main.exit !== 0 || step.main.resultFile === undefined) return [];
    const listed = idsIn(step.main.resultFile, expects.mode);
    if ('shard' in expects && expects.shard !== '') shares.set(expects.shard, listed);
    const lacking = step.main.sent.some(isIncompleteKeyList) ? [] : missing(run, step, expects, listed);
    return [
      ...doubled(listed),
      ...lacking,
      ...tooOld(run, step, expects, listed),
      ...badIds(step, expects, listed),
      ...badBatches(step, expects, listed),
    ];
  });
  return [...problems, ...badShares(run, shares)];
}

function isListing(expects: Expectation): expects is Listing {
  return expects.mode.startsWith('list-');
}

function idsIn(resultFile: string, mode: Listing['mode']): string[] {
  const result = parseJson(resultFile) as JsonObject;
  const records = result[mode.slice('list-'.length)] as JsonObject[];
  return records.map(({ id = '' }) => toText(id));
}

function doubled(ids: readonly string[]): string[] {
  return new Set(ids).size === ids.length ? [] : ['a record is listed twice'];
}

function missing(run: Run, step: StepRecord, expects: Listing, listed: readonly string[]): string[] {
  if ('shard' in expects && expects.shard !== '') return [];
  const there = thereThroughout(run, step, expects).filter(({ record }) => expects.filter(record));
  const ids = new Set(listed);
  const lacking = there.filter(({ id }) => !ids.has(id));
  const isCut = expects.limit > 0 && listed.length >= expects.limit;
  if (expects.limit > 0 && listed.length > expects.limit)
    return [`${listed.length} records, though ${expects.limit} are the limit`];
  if (!isCut) return lacking.map(({ id }) => `${id} was there throughout and is missing`);
  if (expects.mode === 'list-keys') return [];
  // Of a list that was cut, the older ones are missing.
  const oldest = Math.min(...there.filter(({ id }) => ids.has(id)).map(({ made }) => made));
  return lacking.filter(({ made }) => made > oldest).map(({ id }) => `${id} is newer than what is listed, and missing`);
}

function thereThroughout({ stage }: Run, { main }: StepRecord, expects: Listing): There[] {
  const { plane } = stage;
  const begin = (epoch + main.startedAt) * 1_000;
  if (expects.mode === 'list-keys')
    return stage
      .keys()
      .filter((key) => isAliveAt(key, main.startedAt) && isAliveAt(key, main.endedAt))
      .map(({ id, name, createdAt }) => ({ id, record: { id, name }, made: createdAt }));
  if (expects.mode === 'list-projects')
    return plane.projectTimeline
      .page(undefined, Number.POSITIVE_INFINITY)
      .items.filter(({ createdMicros }) => createdMicros < begin)
      .map(({ record, createdMicros }) => ({ id: record.id, record, made: createdMicros }));
  const since = expects.sinceMs === undefined ? 0 : begin + (main.endedAt - main.startedAt - expects.sinceMs) * 1_000;
  const operations = plane.operationTimeline(expects.projectId)?.page(undefined, Number.POSITIVE_INFINITY).items ?? [];
  return operations
    .filter(({ createdMicros }) => createdMicros < begin && createdMicros >= since)
    .map((operation) => ({
      id: operation.id,
      record: JSON.parse(operationJson(operation, epoch + main.endedAt)),
      made: operation.createdMicros,
    }));
}

/** `since` counts on the service's clock, as the Date of the first page shows it, in seconds. */
function tooOld({ stage }: Run, { main }: StepRecord, expects: Listing, listed: readonly string[]): string[] {
  if (expects.mode !== 'list-operations' || expects.sinceMs === undefined) return [];
  const begin = (epoch + main.startedAt - expects.sinceMs - 1_000) * 1_000;
  const operations = stage.plane.operationTimeline(expects.projectId)?.page(undefined, Number.POSITIVE_INFINITY).items;
  const old = (operations ?? []).filter(({ id, createdMicros }) => createdMicros < begin && listed.includes(id));
  return old.map(({ id }) => `${id} is older than since`);
}

const outputOfIds = {
  'list-operations': 'operation-ids',
  'list-projects': 'project-ids',
  'list-keys': 'key-ids',
} as const;

/** Ids are strings, whatever the service sends: others lose their digits in fromJSON. */
function badIds({ main }: StepRecord, { mode }: Listing, listed: readonly string[]): string[] {
  const name = outputOfIds[mode];
  const ids = JSON.parse(output(main, name) ?? '[]') as unknown[];
  return ids.join() === listed.join() && ids.every((id) => typeof id === 'string')
    ? []
    : [`${name} is not the ids of the list as strings`];
}

/** At most `max-batches` arrays, their sizes differing by at most one, covering all. */
function badBatches({ main }: StepRecord, expects: Listing, listed: readonly string[]): string[] {
  if (expects.mode !== 'list-projects') return [];
  const batches = JSON.parse(output(main, 'batches') ?? '') as unknown[][];
  const sizes = batches.map(({ length }) => length);
  if (batches.flat().join() !== listed.join()) return ['the batches do not cover the list'];
  if (batches.flat().some((id) => typeof id !== 'string')) return ['an id in the batches is no string'];
  if (batches.length > expects.maxBatches)
    return [`${batches.length} batches, though ${expects.maxBatches} are the most`];
  return Math.max(...sizes, 0) - Math.min(...sizes, 256) > 1 ? ['the batches are uneven'] : [];
}

/** The shares of a matrix hold each project once. */
function badShares(run: Run, shares: ReadonlyMap<string, readonly string[]>): string[] {
  const [first] = run.steps;
  if (shares.size === 0 || shares.size < run.steps.length || first === undefined) return [];
  const { expects } = first.plan;
  if (!isListing(expects)) return [];
  const all = [...shares.values()].flat();
  const last = run.steps.reduce((one, other) => (one.main.endedAt > other.main.endedAt ? one : other));
  const first_ = run.steps.reduce((one, other) => (one.main.startedAt < other.main.startedAt ? one : other));
  const spanned = { ...last, main: { ...last.main, startedAt: first_.main.startedAt } };
  const there = thereThroughout(run, spanned, expects).filter(({ record }) => expects.filter(record));
  const ids = new Set(all);
  return [
    ...doubled(all).map(() => 'a project is in two shares'),
    ...there.filter(({ id }) => !ids.has(id)).map(({ id }) => `project ${id} is in no share`),
  ];
}
