import { parseJson } from '../formats.js';
import { output, type Run, type SentRequest, type StepRecord, texts } from '../record.js';
import { endedByItself } from '../truth.js';

type Fields = Readonly<Record<string, unknown>>;

/** A warning names each list that was cut or may be incomplete, and no other. */
export function warningsAreTrue({ steps, stage }: Run): string[] {
  return steps.flatMap((step) =>
    endedByItself(step.main) ? [...limitWarnings(step), ...pageWarnings(step, stage.slackMs)] : [],
  );
}

/** A limit that was set gets a warning if the pages contain more records than it admits. */
function limitWarnings({ main, plan: { expects } }: StepRecord): string[] {
  if (!('isLimitSet' in expects) || output(main, 'count') === undefined) return [];
  const hasWarning = texts(main, 'warning').some((text) => text.includes('truncated the list'));
  if (!expects.isLimitSet || expects.limit === 0) return hasWarning ? ['a limit that is not set cut the list'] : [];
  // Clocks decide how many records of a page are within `since`.
  if ('sinceMs' in expects && expects.sinceMs !== undefined) return [];
  const admitted = pagesOf(main.sent).flatMap(({ records }) => records.filter(expects.filter).map(idOf));
  const isCut = new Set(admitted).size > expects.limit;
  if (hasWarning === isCut) return [];
  return [isCut ? 'a list was cut without a warning' : 'a warning that a whole list was cut'];
}

/** A page that has records but no new one gets a warning, one a step. */
function pageWarnings({ main }: StepRecord, slackMs: number): string[] {
  const warnings = texts(main, 'warning').filter((text) => text.includes('may be incomplete'));
  // The lists of several projects are read at the same time.
  const seenOf = new Map<string, Set<string>>();
  let withoutNew: SentRequest | undefined;
  for (const { sent, records } of pagesOf(main.sent)) {
    const list = sent.path.replace(/\?.*/, '');
    const seen = sent.path.includes('cursor=') ? seenOf.get(list) : undefined;
    const ids = records.map(idOf);
    if (ids.length > 0 && ids.every((id) => seen?.has(id))) withoutNew ??= sent;
    seenOf.set(list, new Set([...(seen ?? []), ...ids]));
  }
  if (warnings.length > 1) return [`${warnings.length} warnings that a list may be incomplete`];
  if (withoutNew === undefined) return warnings.length > 0 ? ['a warning that a whole list may be incomplete'] : [];
  // A page that arrives when the step ends may be too late to be read.
  const isRead = (withoutNew.endedAt ?? main.endedAt) + slackMs < main.endedAt || main.exit === 0;
  return isRead && warnings.length === 0 ? ['a page without a new record got no warning'] : [];
}

/** The pages of lists, in order. */
function pagesOf(sent: readonly SentRequest[]): { readonly sent: SentRequest; readonly records: readonly Fields[] }[] {
  return sent.flatMap((one) => {
    if (one.response === undefined || one.response.status >= 300 || !one.endpoint.startsWith('list-')) return [];
    const records = recordsIn(one);
    return records === undefined ? [] : [{ sent: one, records }];
  });
}

function recordsIn({ endpoint, response }: SentRequest): Fields[] | undefined {
  try {
    const body = parseJson(response?.body ?? '') as Fields;
    const list = Array.isArray(body) ? body : body?.[endpoint.slice('list-'.length)];
    return Array.isArray(list) ? list.filter((one) => typeof one === 'object' && one !== null) : undefined;
  } catch {
    return undefined;
  }
}

function idOf({ id = '' }: Fields): string {
  return String(id);
}
