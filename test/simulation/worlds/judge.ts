import { Filter } from '../../../src/modes/list/filter.js';
import { VirtualClock } from '../../virtual/clock.js';
import { runWait } from '../../virtual/run-wait.js';
import { type Answer, counts, owedOf, viewOf } from '../owed.js';
import { autoPause, restMs } from '../truth.js';
import { projectId, serve, singleMs } from './service.js';
import { type Life, lagOf, type World } from './world.js';

const since = 60_000;
const usualTimeout = 60;

export interface Outcome {
  readonly verdict: string;
  readonly endedAt: number;
  readonly answers: readonly Answer[];
  readonly requests: number;
  readonly violation: string | undefined;
}

/** Runs the real wait in a world, and judges its verdict by the truth of that world. */
export async function runWorld(world: World): Promise<Outcome> {
  const clock = new VirtualClock();
  const { exchange, lives, answers, sent } = serve(world, clock);
  const timeout = 1_000 * (world.timeoutSeconds ?? usualTimeout);
  const target = { all: new Filter([], []), since };
  const waiting = runWait({ projectIds: [projectId], target }, { exchange, clock, timeout, random: () => 0.5 });
  const { verdict } = await clock.run(waiting);
  const endedAt = clock.now();
  const violation = violationOf(world, lives, answers, { verdict, endedAt, timeout });
  return { verdict, endedAt, answers, requests: sent.requests, violation };
}

interface End {
  readonly verdict: string;
  readonly endedAt: number;
  readonly timeout: number;
}

function violationOf(world: World, lives: readonly Life[], answers: readonly Answer[], end: End): string | undefined {
  const { verdict, endedAt, timeout } = end;
  const from = 1_000 * (world.dateAheadSeconds ?? 0) - since;
  const lastRead = answers.findLast(({ read }) => read !== undefined)?.read ?? 1;
  const judged = lives.map((life) => ({ ...life, listedFrom: life.begins + lagOf(life, lastRead - 1) }));
  const view = viewOf(answers, judged);
  const hasEnded = ({ ends }: Life) => ends <= endedAt;
  const latest = latestEnd(world, lives);
  if (verdict === 'finished') {
    const missed = owedOf(judged, view, from, endedAt).find((life) => !(hasEnded(life) && life.isGood));
    if (missed !== undefined) return `finished, although operation ${missed.id} has not ended well`;
    return endedAt > latest ? `finished late, after ${endedAt} ms` : undefined;
  }
  if (verdict === 'timeout' && endedAt >= timeout && latest >= timeout) return undefined;
  if (verdict !== 'failed') return `${verdict}, in a healthy world`;
  const failed = judged.filter((life) => hasEnded(life) && !life.isGood);
  const isTrue = failed.some((life) => counts(life, view, from, endedAt));
  return isTrue ? undefined : 'failed, although nothing that counts has failed';
}

/** Two pauses of polls, the rest between two reads, and one more pause for a request that fails. */
function latestEnd({ fails }: World, lives: readonly Life[]): number {
  const news = Math.max(0, ...lives.map((life) => life.ends + Math.max(...life.lags)));
  const margin = 500;
  let latest = news + restMs + 4 * singleMs + margin;
  for (let pauses = fails === undefined ? 2 : 3; pauses > 0; pauses--) latest += autoPause(latest);
  return latest;
}
