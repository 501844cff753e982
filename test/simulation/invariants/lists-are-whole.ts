import { operationJson } from '../../../control-plane/operation.js';
import type { Of } from '../plan.js';
import { type Fields, parseJson, type Run, type StepRecord } from '../record.js';
import { epoch } from '../stage.js';
import { isAliveAt } from '../truth.js';

type Listing = Of<'list-operations' | 'list-projects' | 'list-keys'>;

/** No record that existed throughout is missing or listed twice. The message tells of each limit that was reached. */
export function* listsAreWhole(step: StepRecord, run: Run): Generator<string> {
  const { main, plan } = step;
  const { expects } = plan;
  if (!('limit' in expects)) return;
  const listed = idsOf(step);
  if (listed === undefined) return;
  if (new Set(listed).size < listed.length) yield 'a record is listed twice';
  yield* missing(run, step, expects, listed);
  const isTold = main.output('message')?.includes('limit reached') === true;
  if (isTold !== (listed.length === expects.limit && listed.length > 0))
    yield `${listed.length} records for a limit of ${expects.limit}, and the message is ${main.output('message')}`;
  if (expects.mode === 'list-operations' && expects.sinceMs !== undefined) {
    // `since` counts on the service's clock. The `Date` of the first page has whole seconds.
    const start = (epoch + main.startedAt - expects.sinceMs - 1_000) * 1_000;
    for (const { id, createdMicros } of run.stage.listedOperations(expects.projectId) ?? [])
      if (createdMicros < start && listed.includes(id)) yield `${id} is older than since`;
  }
}

function idsOf({ main, plan }: StepRecord): string[] | undefined {
  if (main.exit !== 0 || main.resultFile === undefined) return undefined;
  const result = parseJson(main.resultFile) as Record<string, { id: unknown }[]>;
  return result[plan.mode.slice('list-'.length)]?.map(({ id }) => String(id)) ?? [];
}

function* missing(run: Run, step: StepRecord, expects: Listing, listed: readonly string[]) {
  const { limit, mode } = expects;
  const existing = existingThroughout(run, step, expects);
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

/** The records that existed from the start of the step to its end, and that the filter admits. */
function existingThroughout({ stage }: Run, { main }: StepRecord, expects: Listing) {
  const { startedAt: start, endedAt: end } = main;
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
