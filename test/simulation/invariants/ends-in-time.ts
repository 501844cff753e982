import { processesOf, type Run } from '../record.js';
import { deadlineOf, postTimeout } from '../truth.js';

const grace = 2_000;

/** Main ends by its deadline + 2 s, and within 2 s of a signal. Post ends within 20 s + 2 s. */
export function endsInTime({ stage, steps }: Run): string[] {
  return steps.flatMap((step) => {
    const { main, post, plan } = step;
    const { startedAt, endedAt, signalledAt = Number.POSITIVE_INFINITY } = main;
    const onePoll = plan.timeoutMs === 0 ? plan.requestTimeoutMs * Math.max(1, main.sent.length) : undefined;
    const limits: readonly (readonly [what: string, ended: number, limit: number])[] = [
      ['main, after its deadline', endedAt, deadlineOf(step) + grace],
      ['main, after the signal', endedAt, signalledAt + grace],
      ['a single poll', endedAt, startedAt + (onePoll ?? Number.POSITIVE_INFINITY)],
      ['post', post?.endedAt ?? 0, (post?.startedAt ?? 0) + postTimeout + grace],
    ];
    return [
      ...processesOf(step).flatMap(({ part, exit }) => (exit === 'hung' ? [`${part} did not end`] : [])),
      ...limits.flatMap(([what, ended, limit]) =>
        ended > limit + stage.slackMs ? [`${what}: ended ${Math.round(ended - limit)} ms late`] : [],
      ),
    ];
  });
}
