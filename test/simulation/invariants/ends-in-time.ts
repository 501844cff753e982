import { processesOf, type Run } from '../record.js';
import { deadlineOf } from '../truth.js';

const grace = 2_000;
const postTakes = 20_000;

/** Ends by deadline + 2 s, after a signal within 2 s, post within 20 s + 2 s. */
export function endsInTime(run: Run): string[] {
  return run.steps.flatMap((step) => {
    const problems = processesOf(step).flatMap(({ part, exit }) => (exit === 'hung' ? [`${part} did not end`] : []));
    const { main, post, plan } = step;
    const { startedAt, endedAt, signalledAt } = main;
    if (endedAt > deadlineOf(step) + grace)
      problems.push(`main ended ${endedAt - deadlineOf(step)} ms after its deadline`);
    if (plan.timeoutMs === 0 && endedAt - startedAt > plan.requestTimeoutMs * Math.max(1, main.sent.length))
      problems.push(`one look took ${endedAt - startedAt} ms`);
    if (signalledAt !== undefined && endedAt > signalledAt + grace)
      problems.push(`main ended ${endedAt - signalledAt} ms after the signal`);
    if (post !== undefined && post.endedAt > post.startedAt + postTakes + grace)
      problems.push(`post took ${post.endedAt - post.startedAt} ms`);
    return problems;
  });
}
