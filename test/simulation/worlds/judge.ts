import { ControlApi } from '../../../src/api/control-api.js';
import { Rate } from '../../../src/http/rate.js';
import { Filter } from '../../../src/modes/list/filter.js';
import type { WaitSettings } from '../../../src/modes/wait-operation/settings.js';
import { waitOperation } from '../../../src/modes/wait-operation/wait-operation.js';
import { Cancellation, Deadline } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';
import { silent } from '../../virtual/silent.js';
import { type Answer, projectId, serve } from './service.js';
import { type Life, lagOf, type World } from './world.js';

const baseUrl = new URL('https://control.test/v2');
const since = 60_000;
const usualTimeout = 60;
const rest = 5_000;

const settings: WaitSettings = {
  projectIds: [projectId],
  target: { all: new Filter([], []), since },
  failOnEmpty: false,
  pollInterval: 'auto',
  failFast: true,
  pollsOnce: false,
};

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
  const random = () => 0.5;
  const rate = new Rate(clock, random);
  const timeout = 1_000 * (world.timeoutSeconds ?? usualTimeout);
  const deadline = new Deadline(clock, timeout, new Cancellation());
  const api = new ControlApi({ exchange, log: silent, baseUrl, apiKey: 'a-parent-key', rate });
  const collaborators = { api, rate, deadline, log: silent, random };
  const { verdict } = await clock.run(waitOperation(settings, collaborators));
  const endedAt = clock.now();
  const violation = violationOf(world, lives, answers, verdict, endedAt);
  return { verdict, endedAt, answers, requests: sent.requests, violation };
}

function violationOf(
  world: World,
  lives: readonly Life[],
  answers: readonly Answer[],
  verdict: string,
  endedAt: number,
): string | undefined {
  const counting = countingOf(world, lives, answers);
  if (verdict === 'finished') {
    const owed = owedOf(lives, answers, counting);
    const missed = [...owed].find((index) => !hasEndedWell(lives[index], endedAt));
    if (missed !== undefined) return `finished, although operation ${missed} has not ended well`;
    return endedAt > latestEnd(world, lives) ? `finished late, after ${endedAt} ms` : undefined;
  }
  const timeout = 1_000 * (world.timeoutSeconds ?? usualTimeout);
  if (verdict === 'timeout' && endedAt >= timeout && latestEnd(world, lives) >= timeout) return undefined;
  if (verdict !== 'failed') return `${verdict}, in a healthy world`;
  const hasFailed = ({ ends, isGood }: Life, index: number) => counting.has(index) && ends <= endedAt && !isGood;
  return lives.some(hasFailed) ? undefined : 'failed, although nothing that counts has failed';
}

function hasEndedWell(life: Life | undefined, now: number): boolean {
  return life?.isGood === true && life.ends <= now;
}

/** The operations that count, in the words of the contract. Some of them are never listed before the step ends. */
function countingOf({ dateAheadSeconds = 0 }: World, lives: readonly Life[], answers: readonly Answer[]): Set<number> {
  const from = 1_000 * dateAheadSeconds - since;
  const shown = answers.flatMap((answer) => answer.shown ?? []);
  const isUnfinished = new Set(shown.flatMap(({ index, hasEnded }) => (hasEnded ? [] : [index])));
  const first = firstRead(answers).flatMap((answer) => (answer.shown ?? []).map(({ index }) => index));
  const oldest = Math.min(...first.map((index) => lives[index]?.begins ?? 0));
  const isNew = (life: Life, index: number) => !first.includes(index) && !(life.begins < oldest && first.length > 0);
  const counts = (life: Life, index: number) => isUnfinished.has(index) || life.ends >= from || isNew(life, index);
  return new Set(lives.flatMap((life, index) => (counts(life, index) ? [index] : [])));
}

/** The pages of the first read none of which failed. */
function firstRead(answers: readonly Answer[]): readonly Answer[] {
  const pages = answers.filter(({ read }) => read !== undefined);
  const failed = new Set(pages.flatMap(({ read, shown }) => (shown === undefined ? [read] : [])));
  const first = pages.find(({ read }) => !failed.has(read))?.read;
  return pages.filter(({ read }) => read === first);
}

/**
 * Those which no success may miss: each that counts and was shown, or stood in the list when the last read began, and each
 * follow-up of one of them that had begun by then.
 */
function owedOf(lives: readonly Life[], answers: readonly Answer[], counting: ReadonlySet<number>): Set<number> {
  const last = answers.findLast(({ read }) => read !== undefined);
  const pages = answers.filter(({ read }) => read === last?.read);
  const begunAt = pages[0]?.sentAt ?? 0;
  const shown = new Set(answers.flatMap((answer) => answer.shown ?? []).map(({ index }) => index));
  const owed = new Set<number>();
  for (const [index, life] of lives.entries()) {
    const isListed = life.begins <= begunAt - lagOf(life, (last?.read ?? 1) - 1);
    const isDue = life.follows !== undefined && owed.has(life.follows) && life.begins <= begunAt;
    if (counting.has(index) && (shown.has(index) || isListed || isDue)) owed.add(index);
  }
  return owed;
}

/** Two pauses of polls, the rest between two reads, and one more pause for a request that fails. */
function latestEnd({ singleSeconds, fails }: World, lives: readonly Life[]): number {
  const news = Math.max(0, ...lives.map((life) => life.ends + Math.max(...life.lags)));
  const margin = 500;
  let latest = news + rest + 4 * singleSeconds * 1_000 + margin;
  for (let pauses = fails === undefined ? 2 : 3; pauses > 0; pauses--)
    latest += Math.min(3_300, Math.max(500, latest / 4));
  return latest;
}
