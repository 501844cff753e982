import { type Account, processesOf } from './account.js';
import { type Cell, cellName } from './cell.js';
import { violationsOf } from './invariants/index.js';
import { isToldOf, leftOf } from './invariants/keys.js';
import { secrets } from './invariants/secrets.js';
import { lateness } from './invariants/times.js';
import { runCell } from './run-cell.js';
import type { Subject } from './subject.js';

/** What the table tells of one cell. */
export interface Outcome {
  readonly subject: Subject;
  readonly cell: Cell | undefined;
  readonly name: string;
  readonly runs: number;
  readonly told: number;
  readonly untold: number;
  readonly secrets: number;
  /** Milliseconds after the last moment that is promised; below 0: before. */
  readonly late: number;
  readonly violations: readonly string[];
  readonly account?: Account;
}

export function nameOf(subject: Subject, cell: Cell | undefined): string {
  return `${subject.name}: ${cell === undefined ? 'clean' : cellName(cell)}`;
}

/** Runs a cell and judges it; what keeps it from being run is a violation too. */
export async function outcomeOf(subject: Subject, cell: Cell | undefined): Promise<Outcome> {
  const common = { subject, cell, name: nameOf(subject, cell) };
  try {
    const { account, dispose } = await runCell(subject, cell);
    try {
      const left = leftOf(account);
      const told = left.filter((one) => isToldOf(account, one)).length;
      return {
        ...common,
        runs: processesOf(account).length,
        told,
        untold: left.length - told,
        secrets: secrets(account).length,
        late: Math.max(...processesOf(account).map(lateness)),
        violations: [...violationsOf(account), ...unmet(account)],
        account,
      };
    } finally {
      await dispose();
    }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const none = { runs: 0, told: 0, untold: 0, secrets: 0, late: Number.NEGATIVE_INFINITY };
    return { ...common, ...none, violations: [`it could not be run: ${said}`] };
  }
}

/** A cell whose fault was never met proves nothing. */
function unmet({ cell, main, post, askedOfGitHub }: Account): string[] {
  if (cell === undefined) return [];
  const { place, blow } = cell;
  const { exchanges, signalled } = (place.stage === 'main' ? main : post) ?? main;
  switch (blow.kind) {
    case 'signal':
    case 'inner-signal':
      // One that comes right after the last answer finds no process any more.
      return signalled !== undefined || (blow.kind === 'signal' && blow.when === 'answered')
        ? []
        : ['no signal was sent'];
    case 'github-fault':
      return wasMet(askedOfGitHub[place.nth - 1], blow.fault);
    case 'fault': {
      const alike = exchanges.filter(({ endpoint }) => endpoint === place.endpoint);
      return wasMet(blow.often === 'all from then on' ? exchanges[place.at - 1] : alike[place.nth - 1], blow.fault);
    }
  }
}

function wasMet(
  exchange: { readonly fault: string | undefined } | undefined,
  fault: { readonly kind: string },
): string[] {
  return exchange?.fault === fault.kind ? [] : ['the fault was never met'];
}
