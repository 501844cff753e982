import { groupOf } from '../simulation/coverage.js';
import { type Mode, modes } from '../simulation/plan.js';
import type { Run, StepRecord } from '../simulation/record.js';
import { simulate } from '../simulation/simulate.js';

const ofNetwork = ['closed-on-arrival', 'outage'];
export const kinds = [...Object.keys(groupOf), 'status', 'kill', 'signal'].filter((kind) => !ofNetwork.includes(kind));
/** A service drips only small bodies. */
const impossible = ['list-operations: drip', 'list-projects: drip', 'list-keys: drip'];

/** Each fault in each mode, and in post. */
export const cells: readonly string[] = [...modes, 'post' as const]
  .flatMap((mode) => kinds.map((kind) => cell(mode, kind)))
  .filter((name) => !impossible.includes(name) && name !== 'post: signal');

export function cell(mode: Mode | 'post', kind: string): string {
  return `${mode}: ${kind}`;
}

export function cellsOf({ steps }: Run): Set<string> {
  return new Set(steps.flatMap(cellsOfStep).filter((name) => cells.includes(name)));
}

function cellsOfStep(step: StepRecord): string[] {
  return step.processes.flatMap((process) => {
    const mode = process.part === 'post' ? 'post' : step.plan.mode;
    const met = process.sent.flatMap(({ fault }) => (fault === undefined ? [] : [cell(mode, fault)]));
    if (process.exit === 'killed') met.push(cell(mode, 'kill'));
    if (process.signalledAt !== undefined) met.push(cell(mode, 'signal'));
    return met;
  });
}

export interface Choice {
  readonly seed: number;
  /** Milliseconds that the run takes in virtual time. */
  readonly ms: number;
}

interface Options {
  readonly from: number;
  readonly temp: string;
  /** How many plans each cell gets. */
  readonly perCell: number;
  readonly maxSeeds: number;
  /** Milliseconds. Longer runs are left out. */
  readonly maxMs: number;
}

/** Chooses plans by their virtual run, so that each fault hits each mode. Those that cover the rarest cells come first. */
export async function choosePlans({ from, temp, perCell, maxSeeds, maxMs }: Options): Promise<Choice[]> {
  const counts = new Map(cells.map((name) => [name, 0]));
  const rounds: Choice[][] = Array.from({ length: perCell }, () => []);
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
  const steps = plan.jobs.flat();
  return (
    plan.outages.every(({ how }) => how === 'silent') &&
    steps.every(({ runnerFault, post }) => runnerFault === undefined && post.forgery === undefined)
  );
}
