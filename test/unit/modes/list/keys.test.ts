import { describe, expect, it } from 'vitest';
import { ControlApi } from '../../../../src/api/control-api.js';
import { silent } from '../../../../src/api/log.js';
import { UserError } from '../../../../src/keys/user-error.js';
import type { ListSettings } from '../../../../src/modes/list/collect.js';
import { parseFilter } from '../../../../src/modes/list/filter.js';
import { type ListKeysResult, listKeys } from '../../../../src/modes/list/keys.js';
import { Cancellation, Deadline } from '../../../../src/time/deadline.js';
import { World } from '../../../virtual/world.js';

/** The list shows the key in use and `shop`; with `isIncomplete` the service has one more. */
async function list(failOn: ListSettings['failOn'], filter: string, isIncomplete = true) {
  const world = new World({ notShown: { keysPageSize: 2 } });
  world.plane.addKey('shop');
  if (isIncomplete) world.plane.addKey('unseen');
  const warnings: string[] = [];
  const access = { baseUrl: new URL('https://control.test/v2'), apiKey: world.plane.apiKey, requestTimeout: 5_000 };
  const listing: Promise<ListKeysResult> = listKeys(
    { filter: parseFilter(filter, ['name']), limit: 0, isLimitSet: false, failOn },
    {
      api: new ControlApi(world.connect(), access, silent),
      deadline: new Deadline(world.clock, 20_000, new Cancellation()),
      log: { ...silent, warning: (line) => warnings.push(line) },
      random: () => 0.5,
    },
  );
  return { found: await world.clock.run(listing), warnings };
}

describe('a list of keys that announces more', () => {
  it.each<[ListSettings['failOn'], string, ListKeysResult['verdict']]>([
    [undefined, 'name=nobody', 'ok'],
    ['empty', 'name=shop', 'ok'],
    ['match', 'name=shop', 'match'],
  ])('gets a warning, and with fail-on: %s and filter %s the verdict %s', async (failOn, filter, verdict) => {
    const { found, warnings } = await list(failOn, filter);
    expect(found.verdict).toBe(verdict);
    expect(warnings).toMatchObject([expect.stringContaining('The list of keys is incomplete')]);
  });

  it.each(['empty', 'match'] as const)('is an error with fail-on: %s if nothing matches', async (failOn) => {
    await expect(list(failOn, 'name=nobody')).rejects.toThrow(UserError);
  });
});

it('a complete list of keys gets no warning, and decides fail-on', async () => {
  const { found, warnings } = await list('empty', 'name=nobody', false);
  expect(found.verdict).toBe('empty');
  expect(warnings).toEqual([]);
});
