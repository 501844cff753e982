import type { Fields, Run, SentRequest, StepRecord } from '../record.js';

/** A warning names each list that was cut or may be incomplete, and no other. */
export function* warningsAreTrue(step: StepRecord, { stage }: Run): Generator<string> {
  if (!step.main.endedByItself) return;
  yield* limitWarnings(step);
  yield* pageWarnings(step, stage.slackMs);
}

/** A limit that was set gets a warning if the pages contain more records than it admits, or perhaps if they contain as many. */
function* limitWarnings({ main, plan: { expects } }: StepRecord) {
  if (!('limit' in expects) || main.output('count') === undefined) return;
  const limit = expects.isLimitSet && expects.limit > 0 ? expects.limit : Number.POSITIVE_INFINITY;
  // Clocks decide how many records of a page are within `since`.
  if (Number.isFinite(limit) && 'sinceMs' in expects && expects.sinceMs !== undefined) return;
  // An incomplete list of projects is read again.
  const lastRead = main.sent.slice(main.sent.findLastIndex(({ hasCursor }) => !hasCursor));
  const admitted = lastRead.flatMap(({ records = [] }) => records.filter(expects.filter).map(idOf));
  const count = new Set(admitted).size;
  const warning = main.texts('warning').find((text) => text.includes('truncated the list'));
  const isInDoubt = warning?.includes('may have truncated') ?? false;
  const isTrue = warning === undefined ? count <= limit : isInDoubt ? count >= limit : count > limit;
  if (!isTrue) yield `the pages have ${count} records for a limit of ${limit}, and the warning is: ${warning}`;
}

/** A page that has records but no new one gets a warning, one a step. */
function* pageWarnings({ main, deadline }: StepRecord, slackMs: number) {
  // A response that arrives at the deadline itself may be read or not.
  if (main.sent.some(({ at, endedAt }) => at < deadline && endedAt === deadline)) return;
  const warnings = main.texts('warning').filter((text) => text.includes('may be incomplete')).length;
  // The lists of several projects are read at the same time.
  const seenOf = new Map<string, readonly string[]>();
  const withoutNew = main.sent.filter(({ endpoint, records = [], list, hasCursor }) => {
    if (endpoint === 'get-operation') return false;
    const seen = (hasCursor && seenOf.get(list)) || [];
    const ids = records.map(idOf);
    seenOf.set(list, [...seen, ...ids]);
    return ids.length > 0 && ids.every((id) => seen.includes(id));
  });
  // A page that arrives when the step ends may be too late to be read.
  const isRead = ({ endedAt = main.endedAt }: SentRequest) => endedAt + slackMs < main.endedAt || main.exit === 0;
  if (warnings > Math.min(1, withoutNew.length)) yield `${warnings} warnings that a list may be incomplete`;
  if (warnings === 0 && withoutNew.some(isRead)) yield 'a page without a new record got no warning';
}

function idOf({ id = '' }: Fields): string {
  return String(id);
}
