import type { Account } from '../account.js';
import { ends } from './ends.js';
import { keys } from './keys.js';
import { requests } from './requests.js';
import { secrets } from './secrets.js';
import { success } from './success.js';
import { times } from './times.js';

/** What is wrong with a run, in words; nothing where all is as it must be. */
export type Invariant = (account: Account) => string[];

/** What holds whatever goes wrong. */
export const invariants: Readonly<Record<string, Invariant>> = { success, keys, requests, secrets, times, ends };

export function violationsOf(account: Account): string[] {
  return Object.entries(invariants).flatMap(([name, invariant]) =>
    invariant(account).map((said) => `${name}: ${said}`),
  );
}
