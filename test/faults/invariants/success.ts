import type { Account } from '../account.js';
import type { Cell } from '../cell.js';
import { isBenign, isRefusal, isRepeated, isStatus } from '../fault-sorts.js';

/** Green only if what was asked for is true; and green where the fault was one that passes. */
export function success(account: Account): string[] {
  const { cell, main, setting, subject } = account;
  if (main.result.signal !== null) return [];
  if (main.result.conclusion === 'success') {
    const falsehood = setting.falsehood(account);
    return [
      ...(falsehood === undefined ? [] : [`it ended green, but ${falsehood}`]),
      ...(cell !== undefined && isRefusedForGood(account, cell) ? ['it ended green, though it was refused'] : []),
    ];
  }
  if (cell === undefined) return ['it ended red where nothing went wrong'];
  const passes = isPassing(cell) && (subject.repeats?.(cell.place) ?? true);
  return passes ? ['it ended red, though what went wrong would have passed'] : [];
}

/** What the client is to try again, and which does not come again; in post it is told to nobody whether main is green. */
function isPassing({ place, blow }: Cell): boolean {
  if (place.stage === 'post' || blow.kind === 'github-fault') return true;
  if (blow.kind !== 'fault') return false;
  // Where each second request is lost, it can be the same one each time.
  const isBearable = isBenign(blow.fault, 'main') && blow.often !== 'all from then on';
  return isBearable || (blow.often === 'once' && isRepeated(blow.fault));
}

function isRefusedForGood({ subject }: Account, { place, blow }: Cell): boolean {
  if (place.stage !== 'main' || blow.kind !== 'fault') return false;
  // A redirect is not followed; a list that met one is not read again.
  const isSentAway = blow.fault.kind === 'redirect' && subject.name.startsWith('list-');
  return isSentAway || (isRefusal(blow.fault) && !isStatus(blow.fault, 404));
}
