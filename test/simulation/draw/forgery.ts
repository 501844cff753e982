import type { Chance } from '../chance.js';
import { keyName, ownFingerprint, sealOf } from '../formats.js';
import { ownRun } from '../plan.js';
import { epoch, type Stage } from '../stage.js';

const thief = 'https://thief.test';

/**
 * A state that another step of the job sets for post through `GITHUB_ENV`, from what it can read: never one that main sealed in
 * this attempt of this run. With the key in it, and the origin of its address, if main would accept that address.
 */
export function drawForgery(chance: Chance, { plane, origin }: Stage) {
  const ownUrl = `${origin}/v2`;
  const [baseUrl, mayBeSentTo] = chance.pick<readonly [string, string | undefined]>([
    [`${thief}/v2`, thief],
    [`${thief}/v2`, thief],
    [ownUrl, origin],
    ['http://thief.test/v2', undefined],
    ['https://user@thief.test/v2', undefined],
    [`${thief}/v2?x=1`, undefined],
  ]);
  const id = chance.pick(['7', '424242', '7/../projects']);
  const minted = chance.odds(0.5) ? { id, secret: 'forged-0123456789abcdef' } : undefined;
  const madeBy = { run: ownRun, attempt: 1, fingerprint: ownFingerprint, isKept: false };
  const state = (url: string) =>
    JSON.stringify({
      baseUrl: url,
      name: keyName('shop', madeBy, chance.random),
      openCreates: minted === undefined || chance.odds(0.3) ? 1 : 0,
      foundKeyIds: [],
      unconfirmedKeyIds: [],
      minted,
      since: epoch,
      revoke: true,
      onFailure: chance.pick(['warn', 'fail']),
      summary: true,
    });
  const text = state(baseUrl);
  // Sealed by main, with another address. Without a change it would be no forgery.
  const copied = state(ownUrl);
  const readdressed = copied.replace(ownUrl, baseUrl === ownUrl ? `${ownUrl}/` : baseUrl);
  const forged = chance.pick([
    text,
    `${'0'.repeat(chance.pick([1, 64, 5_000]))}${text}`,
    sealOf(text, 'the-key-of-the-forger', `${ownRun}/1`) + text,
    sealOf(text, plane.apiKey, '7699/1') + text,
    sealOf(text, plane.apiKey, `${ownRun}/2`) + text,
    sealOf(copied, plane.apiKey, `${ownRun}/1`) + readdressed,
  ]);
  return { text: forged, secret: minted?.secret, mayBeSentTo };
}
