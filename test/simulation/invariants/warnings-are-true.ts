import { isObject, type Json, type JsonObject, parseJson, toText } from '../../../src/text/json.js';
import { output, type Run, type Sent, type StepRecord, said } from '../record.js';
import { endedFreely } from '../truth.js';

/** A list that was cut, or that may be incomplete, is said to be; and no other. */
export function warningsAreTrue(run: Run): string[] {
  return run.steps.flatMap((step) => (endedFreely(step.main) ? [...ofLimit(step), ...ofPages(step)] : []));
}

/** A limit that was set, where the pages that came hold more than it admits. */
function ofLimit({ main, plan: { expects } }: StepRecord): string[] {
  if (!('isLimitSet' in expects) || output(main, 'count') === undefined) return [];
  const isSaid = said(main, 'warning').some(({ text }) => text.includes('cut the list'));
  if (!expects.isLimitSet || expects.limit === 0)
    return isSaid ? ['a limit that nobody set is said to cut the list'] : [];
  // How much a page holds that came within since is told by clocks.
  if ('sinceMs' in expects && expects.sinceMs !== undefined) return [];
  const admitted = pagesOf(main.sent).flatMap(({ records }) => records.filter(expects.filter).map(idOf));
  const isCut = new Set(admitted).size > expects.limit;
  return isSaid === isCut ? [] : [`the list was ${isCut ? '' : 'not '}cut, but is ${isSaid ? '' : 'not '}said to be`];
}

/** A page that has records but no new one; one warning a step. */
function ofPages({ main }: StepRecord): string[] {
  const warnings = said(main, 'warning').filter(({ text }) => text.includes('may be incomplete'));
  // The lists of several projects come side by side.
  const seenOf = new Map<string, Set<string>>();
  let withoutNew: Sent | undefined;
  for (const { sent, records } of pagesOf(main.sent)) {
    const list = sent.path.replace(/\?.*/, '');
    const seen = sent.path.includes('cursor=') ? seenOf.get(list) : undefined;
    const ids = records.map(idOf);
    if (ids.length > 0 && ids.every((id) => seen?.has(id))) withoutNew ??= sent;
    seenOf.set(list, new Set([...(seen ?? []), ...ids]));
  }
  if (warnings.length > 1) return [`${warnings.length} warnings that a list may be incomplete`];
  if (withoutNew === undefined) return warnings.length > 0 ? ['a list that is whole is said to be incomplete'] : [];
  // What comes in the moment of the end may come too late to be read.
  const isRead = (withoutNew.endedAt ?? main.endedAt) < main.endedAt || main.exit === 0;
  return isRead && warnings.length === 0 ? ['a page without a new record got no warning'] : [];
}

interface PageSeen {
  readonly sent: Sent;
  readonly records: readonly JsonObject[];
}

/** The pages of lists that the process was shown, in order. */
function pagesOf(sent: readonly Sent[]): PageSeen[] {
  return sent.flatMap((one) => {
    if (one.answer === undefined || one.answer.status >= 300) return [];
    const records = recordsIn(one);
    return records === undefined ? [] : [{ sent: one, records }];
  });
}

function recordsIn({ endpoint, answer }: Sent): JsonObject[] | undefined {
  if (!endpoint.startsWith('list-')) return undefined;
  let body: Json;
  try {
    body = parseJson(answer?.body ?? '');
  } catch {
    return undefined;
  }
  const list = isObject(body) ? body[endpoint.slice('list-'.length)] : body;
  return Array.isArray(list) ? list.filter(isObject) : undefined;
}

function idOf({ id = '' }: JsonObject): string {
  return toText(id);
}
