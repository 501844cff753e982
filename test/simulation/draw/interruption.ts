import type { Chance } from '../chance.js';
import type { Interruption, RunnerFault } from '../plan.js';

export function drawInterruption(chance: Chance, odds: number, spanMs: number): Interruption | undefined {
  if (!chance.odds(odds)) return undefined;
  const what = chance.pick(['kill', 'signal']);
  if (chance.odds(0.75))
    return { what, moment: { on: 'fault', nth: chance.pick([1, 1, 2, 3]), ms: chance.pick([0, 40, 300, 2_000]) } };
  const on = chance.pick(['time', 'time', 'request', 'response', 'message']);
  if (on === 'time') return { what, moment: { on, ms: chance.pick([chance.upTo(spanMs), chance.below(2_000)]) } };
  return { what, moment: { on, nth: on === 'message' ? chance.from(1, 16) : chance.from(1, 5) } };
}

export function drawRunnerFault(chance: Chance): RunnerFault | undefined {
  if (!chance.odds(0.04)) return undefined;
  const kind = chance.pick(['output', 'state', 'variable', 'summary', 'result-file']);
  return { kind, from: kind === 'result-file' ? 1 : chance.from(1, 4) };
}
