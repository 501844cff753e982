import type { Endpoint, FaultRule, Replica } from '../../../control-plane/index.js';
import type { Chance } from '../chance.js';
import { type Outage, replicaLags } from '../plan.js';

/**
 * The world around the steps: the name of each draw, its meaning, and how it is drawn. Times are milliseconds of the run.
 * Draws of a mode, its inputs and its usual faults are not here yet.
 */
const table = {
  replicas: [
    'the three copies of the data, and how far each is behind; absent: each response shows the truth',
    (chance) =>
      chance.odds(0.4)
        ? []
        : chance.times(
            3,
            (): Replica => ({
              operationsBehindMs: lag(chance, replicaLags.operations),
              keysBehindMs: lag(chance, replicaLags.keys),
              historyAfterMs: chance.pick([0, 0, 0, chance.below(20_000)]),
            }),
          ),
  ],
  replicasAuthenticate: ['whether a copy decides which keys are valid', (chance) => chance.odds(0.3)],
  clockAheadMs: [
    'how far the clocks of the runners are ahead of the clock of the service',
    (chance) => chance.pick([0, 0, 0, 100_000, 1_200_000, -1_200_000, 7_200_000, -7_200_000]),
  ],
  ingress: [
    'the ingress responds with HTML pages of that status for a while',
    (chance): Outage[] =>
      chance.sometimes(0.12, () => {
        const from = chance.pick([0, 0, chance.below(3_000), chance.below(20_000)]);
        const to = from + chance.pick([1_000, 8_000, 15_000, 40_000]);
        return { from, to, how: 'page', status: chance.pick([404, 404, 403, 502, 503]) };
      }),
  ],
  traffic: [
    'operations that a wait does not await, or that end at once: how many a second, and when',
    (chance) =>
      chance.sometimes(0.25, () => ({
        perSecond: chance.pick([5, 100, 100]),
        fromMs: chance.below(12_000),
        forMs: chance.pick([1_000, 4_000, 15_000]),
      })),
  ],
  worldFaults: [
    'at most one kind of damage: a lost response, a Retry-After of an hour, a list that is cut or always fails',
    (chance) =>
      (endpoints: readonly Endpoint[]): FaultRule[] => {
        const lists = endpoints.filter((one) => one === 'list-operations' || one === 'list-projects');
        const when = { from: chance.pick([1, 1, 2, 3, chance.from(1, 12)]), count: chance.pick([1, 1, 2]) };
        const lost: FaultRule = { endpoint: chance.pick(endpoints), ...when, fault: { kind: 'hang-before-headers' } };
        const ofLists = lists.flatMap((endpoint): FaultRule[] => [
          { endpoint, ...when, fault: { kind: 'partial-list', announcedBy: chance.pick(announcements) } },
          { endpoint, from: when.from, fault: { kind: 'status', status: 500 } },
        ]);
        const asks: FaultRule = { ...lost, fault: { kind: 'status', status: 503, retryAfter: { seconds: 3_600 } } };
        return chance.sometimes(0.35, () => chance.pick([lost, lost, asks, ...ofLists]));
      },
  ],
  hasUsualFaults: ['whether the usual faults and outages happen, too', (chance) => chance.odds(0.6)],
  lateCreateMs: [
    'after a create that got no response is given up, the service still carries it out so much later',
    (chance) => chance.pick([1_000, 5_000, 15_000, 25_000, 45_000]),
  ],
} as const satisfies Record<string, readonly [what: string, draw: (chance: Chance) => unknown]>;

const announcements = ['link', 'next_cursor', 'unavailable_project_ids'] as const;

export type World = { readonly [Name in keyof typeof table]: ReturnType<(typeof table)[Name][1]> };

export function drawWorld(chance: Chance): World {
  return Object.fromEntries(Object.entries(table).map(([name, [, draw]]) => [name, draw(chance)])) as World;
}

function lag(chance: Chance, most: number): number {
  return chance.pick([0, chance.upTo(most), chance.below(most), most]);
}
