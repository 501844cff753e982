import type { ControlPlaneOptions } from '../../../control-plane/index.js';
import type { Chance } from '../chance.js';

/** JSON, URLs, HTML and the runner's commands write these signs in other ways. */
const keyWithSigns = 'Qx7/Wm+4"Lk&9%Zs<2\\Vb~Ht{6}Jd?8=Pf^3#Ng';

/** Behaviour that the API's document leaves open. */
export function drawService(
  chance: Chance,
  isListed: boolean,
): Omit<ControlPlaneOptions, 'clock' | 'faults' | 'projects' | 'operations'> {
  const pageSize = isListed ? chance.pick([1_000, 100, 3, 3, 7]) : chance.pick([1_000, 1_000, 100, 3, 7]);
  return {
    seed: chance.below(2 ** 30),
    ...(chance.odds(0.25) ? { apiKey: keyWithSigns } : {}),
    firstKeyId: chance.pick([1, 165_423, '9007199254740993']),
    notShown: {
      successStatus: chance.odds(0.2) ? { 'create-key': 201, 'revoke-key': chance.pick([200, 202, 204]) } : {},
      errorBody: chance.pick(['plain', 'plain', 'nested', 'text', 'empty']),
      defaultPageSize: Math.min(100, pageSize),
      maximumPageSize: pageSize,
      overMaximum: 'clamp',
      lastPageCursor: chance.pick(['given', 'absent', 'null', 'empty', 'repeated']),
      cursorZone: chance.pick(['Z', '+00:00']),
      projectsPageSize: chance.pick([0, 3, 3, 7, 100]),
      keysPageSize: chance.odds(isListed ? 0.25 : 0.1) ? chance.pick([1, 2, 3]) : 0,
      neverUsed: chance.pick(['absent', 'null']),
      revokedAgain: chance.pick(['not-found', 'not-found', 'revoked']),
    },
  };
}

/** Milliseconds for one way. */
export function drawTrip(chance: Chance): number {
  return chance.pick([0, 5, 30, 30, 120]);
}
