import { type Account, type Made, processesOf, type Ran } from '../account.js';
import { asksForLong, isBenign, isRefusal } from '../fault-sorts.js';

/** No key is left untold, none that post could have revoked is left at all, never are there two, and none of others is touched. */
export function keys(account: Account): string[] {
  const { made, harmed, post, main } = account;
  const left = leftOf(account).filter(({ key }) => !isSaidToBeGone(account, key.id));
  const untold = left.filter((one) => !isToldOf(account, one));
  const wasKilled = post === undefined || post.result.signal === 'SIGKILL';
  return [
    ...harmed.map((name) => `the key ${name} was touched, which is none of its business`),
    ...(wasKilled ? [] : untold.map(({ key }) => `key ${key.id} is left, and nobody was told`)),
    ...(wasKilled || mayLeave(account)
      ? []
      : left.map(({ key }) => `key ${key.id} is left, though post could revoke it`)),
    ...(main.result.signal !== null || hasNoTwin(made) ? [] : ['two keys of the step were alive at once']),
    ...(mayHaveNoState(main) || main.result.state['key']
      ? []
      : ['main saved no state, and post would take a forged one']),
    ...(hasMaskOfAllThatItHolds(account) ? [] : ['a key was kept before it was masked']),
  ];
}

/** What is alive, and was not to be kept. */
export function leftOf(account: Account): Made[] {
  return account.made.filter(({ isAlive, key }) => isAlive && !isHandedOn(account, key.id));
}

/** `revoke-in-post: false`, and the outputs are out. */
function isHandedOn({ setting, main }: Account, id: string): boolean {
  return setting.inputs['revoke-in-post'] === 'false' && main.result.outputs['key-id'] === id;
}

export function isToldOf(account: Account, { key: { id, name } }: Made): boolean {
  const alarms = processesOf(account)
    .flatMap(({ result }) => result.annotations)
    .filter(({ kind, source }) => source === 'action' && kind !== 'notice')
    .map(({ message }) => message);
  return new RegExp(`\\b(${id}|${name})(?![\\w-])`).test(alarms.join('\n'));
}

/** A key that is not accepted any more is a key that is gone; without the parent key nobody can know better. */
function isSaidToBeGone({ main, post, subject }: Account, id: string): boolean {
  if (subject.inputsOfPost?.['api-key'] !== '' || main.result.outputs['key-id'] !== id) return false;
  return post?.exchanges.some(({ keyId, status }) => keyId === id && status === 401) === true;
}

/** The service could not be reached, asked to be left alone, or accepted no credential that was at hand. */
function mayLeave({ cell, main, subject }: Account): boolean {
  if (cell === undefined || cell.blow.kind !== 'fault') return false;
  const { blow, place } = cell;
  const { fault, often } = blow;
  const isInPost = place.stage === 'post' || often === 'all from then on';
  if (!isInPost || isBenign(fault, place.stage)) return false;
  if (often !== 'once' || asksForLong(fault)) return true;
  if (!isRefusal(fault)) return false;
  const hasMinted = main.result.state['key']?.includes('"secret"') === true;
  const hasParent = subject.inputsOfPost?.['api-key'] !== '';
  const refused = 1 + (subject.inPost ?? []).filter((rule) => isRefusal(rule.fault)).length;
  return Number(hasMinted) + Number(hasParent) <= refused;
}

/** But for what the service made of a request that had been given up. */
function hasNoTwin(made: readonly Made[]): boolean {
  const awaited = made.filter(({ isLate }) => !isLate).map(({ key }) => key);
  return awaited.every(({ createdAt, id }) =>
    awaited.every(
      (other) => other.id === id || other.createdAt > createdAt || (other.revokedAt ?? Infinity) <= createdAt,
    ),
  );
}

/** Killed before it could save one; it has not sent a request by then. */
function mayHaveNoState({ result, exchanges }: Ran): boolean {
  return result.signal === 'SIGKILL' && exchanges.length === 0;
}

function hasMaskOfAllThatItHolds({ main: { result }, made }: Account): boolean {
  const held = JSON.stringify([result.state, result.outputs, result.env]);
  return made.every(({ key }) => !held.includes(key.key) || result.masks.includes(key.key));
}
