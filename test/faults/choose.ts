import { groupOf } from '../simulation/coverage.js';
import { modes, type StepPlan } from '../simulation/plan.js';
import type { Run } from '../simulation/record.js';
import { simulate } from '../simulation/simulate.js';

/** A service drips only small bodies. No signal reaches post. The network alone closes a connection, or is out. */
const impossible = /^list-.*: drip|^post: signal|: closed-on-arrival|: outage/;

export const cells: readonly string[] = [...modes, 'post']
  .flatMap((mode) => [...Object.keys(groupOf), 'status', 'kill', 'signal'].map((kind) => `${mode}: ${kind}`))
  .filter((cell) => !impossible.test(cell));

export function cellsOf({ steps }: Run): Set<string> {
  const met = steps.flatMap(({ processes, plan }) =>
    processes.flatMap(({ part, sent, exit, signalledAt }) => {
      const kinds: unknown[] = sent.map(({ fault }) => fault);
      if (exit === 'killed') kinds.push('kill');
      if (signalledAt !== undefined) kinds.push('signal');
      return kinds.map((kind) => `${part === 'post' ? part : plan.mode}: ${kind}`);
    }),
  );
  return new Set(met.filter((cell) => cells.includes(cell)));
}

/** Chooses plans by their virtual run, so that each fault hits each mode. Those that cover the rarest cells come first. */
export async function choosePlans(from: number, temp: string, isWhole: boolean) {
  // `perCell`: how many plans each cell gets. Runs that take longer than `maxMs` in virtual time are left out.
  const partly = { perCell: 6, maxSeeds: 1_000, maxMs: 30_000 };
  const { perCell, maxSeeds, maxMs } = isWhole ? { perCell: 10, maxSeeds: 40_000, maxMs: 45_000 } : partly;
  const counts = new Map(cells.map((name) => [name, 0]));
  const rounds = Array.from({ length: perCell }, (): { seed: number; ms: number }[] => []);
  for (let seed = from; seed < from + maxSeeds && Math.min(...counts.values()) < perCell; seed++) {
    const run = await simulate(seed, temp);
    const ms = Math.max(...run.steps.flatMap((step) => step.processes.map(({ endedAt }) => endedAt)));
    const covered = [...cellsOf(run)];
    const rarest = Math.min(...covered.map((name) => counts.get(name) ?? 0));
    if (rarest >= perCell || ms > maxMs || !isReplayable(run)) continue;
    rounds[rarest]?.push({ seed, ms });
    for (const name of covered) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return rounds.flat();
}

/** Over sockets the runner accepts everything, no state is forged, and a connection is refused by nobody. */
function isReplayable({ plan }: Run): boolean {
  const isPossible = ({ runnerFault, post }: StepPlan) => runnerFault === undefined && post.forgery === undefined;
  return plan.outages.every(({ how }) => how === 'silent') && plan.jobs.flat().every(isPossible);
}
