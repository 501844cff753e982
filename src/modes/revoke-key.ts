import type { InputReader } from '../action/inputs/input-reader.js';
import { BadValue, type Parse, parseBoolean, parseIdList, rejectLeftover } from '../action/inputs/input-values.js';
import { codeHtml, truncatedTable } from '../action/markdown.js';
import type { StepReport } from '../action/step-report.js';
import type { Key } from '../api/records.js';
import { UserError } from '../http/errors.js';
import { usualPatience, withRetries } from '../http/retry.js';
import { type Fate, type Revocations, revokeKeys } from '../keys/revocation.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import { joinFirst } from '../text/sentences.js';
import { revocationFailure, revocationReport } from './keys-report.js';
import { type Collaborators, define, type ReportFacts } from './mode.js';

type Settings = ReturnType<typeof read>;

function read(reader: InputReader) {
  return reader.complete({
    name: reader.optional('key-name', parseName),
    ids: reader.text('key-name') === '' ? reader.parse('key-id', parseKeyIds) : [],
    ignoreNotFound: reader.parse('ignore-not-found', parseBoolean),
  });
}

/** With `ignore-not-found`, a step with an invalid name would wrongly succeed, because no key has it. */
const parseName: Parse<string> = (text) => {
  if (/\p{Cc}/u.test(rejectLeftover(text)))
    throw new BadValue('is not a name; expected the exact name of one key, on one line');
  return text;
};

const parseKeyIds: Parse<string[]> = (text) => parseIdList(text, parseKeyId, 'key ids, or the input key-name');

const parseKeyId: Parse<string> = (text) => {
  // A value of more than 15 characters may be the key itself instead of its id, so the message does not quote the value.
  if (!/^\d+$/.test(text)) throw new BadValue('is not a key id; expected an integer, such as 165423', text.length > 15);
  return text.replace(/^0+(?=\d)/, '');
};

function run({ name, ids }: Settings, collaborators: Collaborators): Promise<Revocations> {
  const find = name === undefined ? () => ids : onlyKeyNamed(name);
  const send = withRetries(collaborators);
  return revokeKeys({ ...collaborators, send, patience: usualPatience, find, count: 0 });
}

/** Once its id is known, another key that gets the same name is not meant. */
function onlyKeyNamed(name: string) {
  let ids: readonly string[] = [];
  return (listed: readonly Key[]) => {
    if (ids.length === 0) ids = listed.filter((key) => key.name === name).map(({ id }) => id);
    const several = `${ids.length} keys are named ${sanitizeLine(name, 80)}: ${joinFirst(ids)}. Set key-id to the id of the key to revoke.`;
    if (ids.length > 1) throw new UserError(several);
    return ids;
  };
}

const signs = { revoked: '✅ revoked', 'not-found': '❓ not found', unknown: '❌ not confirmed' };

function report(result: Revocations, { name, ignoreNotFound }: Settings, { timeout }: ReportFacts): StepReport {
  const { keys, end } = result;
  const idsThat = (wanted: Fate) => keys.flatMap(({ id, fate }) => (fate === wanted ? id : []));
  const [revoked, unknown] = [idsThat('revoked'), idsThat('unknown')];
  const missing = name !== undefined && keys.length === 0 && end === undefined ? [name] : idsThat('not-found');
  const names = joinFirst(missing.map((text) => sanitizeLine(text, 80)));
  const notFound = `Found no key with ${name === undefined ? 'key-id' : 'key-name'} ${names}. Check it for a typo. The key may also belong to another account, or was revoked before.`;
  const isFailure = missing.length > 0 && !ignoreNotFound;
  const usual = {
    status: isFailure || revoked.length === 0 ? 'not-found' : 'revoked',
    error: isFailure ? `${notFound} If that is expected, set ignore-not-found: true.` : undefined,
    notice: missing.length > 0 && ignoreNotFound ? notFound : undefined,
  };
  const failure = revocationFailure(result, timeout);
  const { status, ...texts } = failure ?? usual;
  const counts = [`${revoked.length} revoked`, `${missing.length} not found`, `${unknown.length} not confirmed`];
  const told = counts.filter((text) => !text.startsWith('0 ')).join(', ') || 'nothing revoked';
  return {
    ...texts,
    ...revocationReport(status, told, revoked, unknown),
    succeeded: failure === undefined && !isFailure,
    resultFields: { not_found: missing },
    details: truncatedTable(['Result', 'Key'], keys, ({ id, fate }) => [signs[fate], codeHtml(id)]),
  };
}

export const revokeKeyMode = define({ read, run, report });
