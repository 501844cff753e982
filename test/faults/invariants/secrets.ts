import { secretsShown } from '../../scenarios/leaks.js';
import { type Account, exchangesOf, processesOf } from '../account.js';
import { exported } from '../mintings.js';
import { token } from '../services.js';

/** No secret, nor a piece of one, is where it does not belong. */
export function secrets(account: Account): string[] {
  const { made, secretsOfOthers, parentKey, askedOfGitHub } = account;
  const minted = made.map(({ key }) => key.key);
  const allowed = new Set([parentKey, ...minted].map((secret) => `Bearer ${secret}`));
  const results = processesOf(account).map(({ result }) => result);
  const exchanges = exchangesOf(account);
  return [
    ...secretsShown(results, { minted, others: secretsOfOthers, variable: exported }, exchanges),
    ...exchanges.flatMap(({ n, headers }) =>
      allowed.has(headers['authorization'] ?? '') ? [] : [`request ${n} bears another key than its own`],
    ),
    ...askedOfGitHub.flatMap(({ path, headers }) =>
      headers['authorization'] === `token ${token}` ? [] : [`GitHub was sent another token for ${path}`],
    ),
  ];
}
