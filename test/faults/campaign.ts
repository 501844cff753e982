import type { Random } from '../control-plane/random.js';
import { type Cell, mannerOf, placeName } from './cell.js';
import { Gate } from './gate.js';
import { type Outcome, outcomeOf } from './outcome.js';
import { usualTimeout } from './run-cell.js';
import type { Subject } from './subject.js';
import { cellsOf } from './table.js';

interface Planned {
  readonly subject: Subject;
  readonly cell: Cell;
}

export interface Campaign {
  readonly subjects: readonly Subject[];
  /** Processes that are under way at once; most of them wait. */
  readonly atOnce: number;
  /** Milliseconds; without it, all of the table. */
  readonly time: number | undefined;
  readonly random: Random;
  readonly onOutcome: (outcome: Outcome) => void;
}

export interface Run {
  readonly outcomes: readonly Outcome[];
  /** Cells of the table. */
  readonly planned: number;
}

/** A cell of a cut may end so much later than the cut. */
const overtime = 13_000;
const postTakes = 22_000;

/** Learns by clean runs which exchanges there are, then runs what can go wrong with each, many side by side. */
export async function runCampaign({ subjects, atOnce, time, random, onOutcome }: Campaign): Promise<Run> {
  const began = performance.now();
  const gate = new Gate(atOnce);
  const outcomes: Outcome[] = [];
  const planned = new Lots(random);
  const left = () => (time === undefined ? Number.POSITIVE_INFINITY : time - (performance.now() - began));
  const run = async (subject: Subject, cell?: Cell): Promise<Outcome> => {
    const outcome = await outcomeOf(subject, cell);
    outcomes.push(outcome);
    onOutcome(outcome);
    return outcome;
  };
  /** Whether a process was late by its own fault, or for want of a core, shows where few others run. */
  const measuredAgain = async (outcome: Outcome): Promise<Outcome> => {
    const { subject, cell, violations, late } = outcome;
    if (late <= 0 || violations.length > 1 || mostOf(subject) > left() + overtime) return outcome;
    const again = await outcomeOf(subject, cell);
    onOutcome(again);
    return again;
  };

  const running: Promise<unknown>[] = [];
  const isDrawn = ({ subject }: Planned) => left() > 0 && mostOf(subject) < left() + overtime;
  /** A place in the line for each cell; which one it is turns out when its turn has come. */
  const queue = async () => {
    const leave = await gate.enter();
    try {
      const next = planned.draw(isDrawn);
      if (next !== undefined) await run(next.subject, next.cell);
    } finally {
      leave();
    }
  };
  await Promise.all(
    subjects.map(async (subject) => {
      const leave = await gate.enter();
      const { account, violations } = await run(subject).finally(leave);
      if (account === undefined || violations.length > 0) return;
      const cells = cellsOf(account);
      planned.add(cells.map((cell) => ({ subject, cell })));
      for (const _ of cells) running.push(queue());
    }),
  );
  await Promise.all(running);
  return { outcomes: await Promise.all(outcomes.map(measuredAgain)), planned: subjects.length + planned.size };
}

/** Milliseconds that a cell may take. */
function mostOf({ timeout = usualTimeout, hasPost }: Subject): number {
  return (timeout + 2) * 1_000 + (hasPost ? postTakes : 0);
}

/** Draws by chance, but evenly: a cell of each situation, exchange and manner in turn. */
class Lots {
  size = 0;
  readonly #random: Random;
  readonly #groups = new Map<string, Planned[]>();
  #turn: string[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  add(cells: readonly Planned[]): void {
    this.size += cells.length;
    for (const one of cells) {
      const { place, blow } = one.cell;
      const name = `${one.subject.name}: ${placeName(place)}: ${mannerOf(blow)}`;
      const group = this.#groups.get(name) ?? [];
      this.#groups.set(name, group);
      group.push(one);
    }
  }

  draw(isWanted: (one: Planned) => boolean): Planned | undefined {
    for (let groups = this.#groups.size; groups >= 0; groups--) {
      if (this.#turn.length === 0) this.#turn = [...this.#groups.keys()];
      const [name = ''] = this.#turn.splice(this.#below(this.#turn.length), 1);
      const group = this.#groups.get(name) ?? [];
      const [first] = group;
      if (first === undefined) this.#groups.delete(name);
      else if (isWanted(first)) return group.splice(this.#below(group.length), 1)[0];
    }
    return undefined;
  }

  #below(length: number): number {
    return Math.floor(this.#random() * length);
  }
}
