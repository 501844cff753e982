import type { Fields, Run, SentRequest, StepRecord } from '../record.js';

/** A warning names each list that was cut or may be incomplete, and no other. */
export function* warningsAreTrue(step: StepRecord, { stage }: Run): Generator<string> {
  if (!step.main.endedByItself) return;
  yield* limitWarnings(step);
  yield* pageWarnings(step, stage.slackMs);
}

/** A limit that was set gets a warning if the pages contain more records than it admits, or perhaps if they contain as many. */
function* limitWarnings({ main, plan: { expects } }: StepRecord) {
  if (!('isLimitSet' in expects) || main.output('count') === undefined) return;
  const warning = main.texts('warning').find((text) => text.includes('truncated the list'));
  const hasWarning = warning !== undefined;
  if (!expects.isLimitSet || expects.limit === 0) {
    if (hasWarning) yield 'a limit that is not set cut the list';
    return;
  }
  // Clocks decide how many records of a page are within `since`.
  if ('sinceMs' in expects && expects.sinceMs !== undefined) return;
  // An incomplete list of projects is read again.
  const lastRead = main.sent.slice(main.sent.findLastIndex(({ hasCursor }) => !hasCursor));
  const admitted = lastRead.flatMap(({ records = [] }) => records.filter(expects.filter).map(idOf));
  const count = new Set(admitted).size;
  const isInDoubt = warning?.includes('may have truncated') ?? false;
  if (count > expects.limit && !hasWarning) yield 'a list was cut without a warning';
  if (count <= expects.limit && hasWarning && !isInDoubt) yield 'a warning that a whole list was cut';
  if (count < expects.limit && isInDoubt) yield 'a warning that a short list may have been cut';
}

/** A page that has records but no new one gets a warning, one a step. */
function* pageWarnings({ main, deadline }: StepRecord, slackMs: number) {
  // A response that arrives at the deadline itself may be read or not.
  if (main.sent.some(({ at, endedAt }) => at < deadline && endedAt === deadline)) return;
  const warnings = main.texts('warning').filter((text) => text.includes('may be incomplete')).length;
  // The lists of several projects are read at the same time.
  const seenOf = new Map<string, Set<string>>();
  let withoutNew: SentRequest | undefined;
  for (const sent of main.sent) {
    if (sent.records === undefined || sent.endpoint === 'get-operation') continue;
    const seen = sent.hasCursor ? seenOf.get(sent.list) : undefined;
    const ids = sent.records.map(idOf);
    if (ids.length > 0 && ids.every((id) => seen?.has(id))) withoutNew ??= sent;
    seenOf.set(sent.list, new Set([...(seen ?? []), ...ids]));
  }
  if (warnings > 1) yield `${warnings} warnings that a list may be incomplete`;
  if (withoutNew === undefined) {
    if (warnings === 1) yield 'a warning that a whole list may be incomplete';
    return;
  }
  // A page that arrives when the step ends may be too late to be read.
  const isRead = (withoutNew.endedAt ?? main.endedAt) + slackMs < main.endedAt || main.exit === 0;
  if (isRead && warnings === 0) yield 'a page without a new record got no warning';
}

function idOf({ id = '' }: Fields): string {
  return String(id);
}
