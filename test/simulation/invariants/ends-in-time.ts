import type { Run, StepRecord } from '../record.js';
import { postTimeout } from '../truth.js';

const grace = 2_000;

/** Main ends by its deadline + 2 s, and within 2 s of a signal. Post ends within 20 s + 2 s. */
export function* endsInTime(step: StepRecord, { stage }: Run): Generator<string> {
  const { main, post, plan, deadline, processes } = step;
  const { startedAt, endedAt, signalledAt = Number.POSITIVE_INFINITY } = main;
  for (const { part, exit } of processes) if (exit === 'hung') yield `${part} did not end`;
  const limits: [what: string, ended: number, limit: number][] = [
    ['main, after its deadline', endedAt, deadline + grace],
    ['main, after the signal', endedAt, signalledAt + grace],
  ];
  if (plan.timeoutMs === 0)
    limits.push(['a single poll', endedAt, startedAt + plan.requestTimeoutMs * Math.max(1, main.sent.length)]);
  if (post !== undefined) limits.push(['post', post.endedAt, post.startedAt + postTimeout + grace]);
  for (const [what, ended, limit] of limits)
    if (ended > limit + stage.slackMs) yield `${what}: ended ${Math.round(ended - limit)} ms late`;
}
