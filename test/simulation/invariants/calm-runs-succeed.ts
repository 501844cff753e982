import { type ProcessRecord, processesOf, type Run, type StepRecord } from '../record.js';
import { bornAt, deadlineOf, diedAt, endOf, goneAt, isAliveAt, madeAt, statusWord } from '../truth.js';
import { alarms } from './status-agrees-with-exit.js';

/** Where nothing goes wrong, the step does what it was asked for, and in good time. */
export function calmRunsSucceed(run: Run): string[] {
  return run.steps.flatMap((step) => {
    const { main, post } = step;
    if (!isCalm(run, step, main) || run.stage.revokedByOthers.size > 0) return [];
    const problems = calmMain(run, step);
    if (post !== undefined && isCalm(run, step, post) && alarms(post).length > 0)
      problems.push(`a false alarm: ${alarms(post)[0]}`);
    return problems;
  });
}

function isCalm({ stage }: Run, step: StepRecord, process: ProcessRecord): boolean {
  const { exit, signalledAt, runnerFailed, sent } = process;
  if (exit === 'killed' || signalledAt !== undefined || runnerFailed || step.plan.runnerFault?.word === 'result-file')
    return false;
  const trips = 2 * stage.tripMs * (sent.length + 2);
  const isSlow =
    process.part === 'main' &&
    step.plan.timeoutMs > 0 &&
    trips > step.plan.timeoutMs &&
    step.plan.mode !== 'wait-operation';
  return !isSlow && processesOf(step).every((one) => one.sent.every(({ fault }) => fault === undefined));
}

function calmMain(run: Run, step: StepRecord): string[] {
  const { main, plan } = step;
  const { expects } = plan;
  const status = statusWord(main) ?? 'none';
  switch (expects.mode) {
    case 'wait-operation':
      return expects.ids === 'all' ? [] : calmWait(run, step, expects.ids, expects.failFast);
    case 'revoke-key': {
      const named = run.stage
        .keys()
        .filter(
          (key) =>
            (key.name === expects.name && isAliveAt(key, main.startedAt)) ||
            (key.name === expects.name && bornAt(key) <= main.startedAt && diedAt(key) > main.startedAt),
        );
      const wanted = named.length > 1 ? ['error'] : ['revoked', 'gone'];
      return wanted.includes(status) ? [] : [`nothing went wrong, but the status is ${status}`];
    }
    case 'create-key':
    case 'sweep-keys':
      return status === 'ok' ? [] : [`nothing went wrong, but the status is ${status}`];
    default:
      return ['ok', expects.failOn].includes(status) ? [] : [`nothing went wrong, but the status is ${status}`];
  }
}

/** The lag after an operation ends stays under the larger of 500 ms and a quarter of its length, and under 5 s. */
function calmWait({ stage }: Run, step: StepRecord, ids: readonly string[], failFast: boolean): string[] {
  const { main, plan } = step;
  const operations = ids.map((id) => stage.operations.find((one) => one.id === id));
  const ends = operations.map((operation) => {
    const isOdd =
      operation === undefined || operation.appearsAfterMs > 0 || goneAt(operation) < Number.POSITIVE_INFINITY;
    return isOdd || !stage.plane.hasProject(operation.projectId) || madeAt(operation) > main.startedAt
      ? undefined
      : endOf(operation);
  });
  const known = ends.flatMap((end) => (end === undefined ? [] : [end]));
  if (known.length < ids.length) return [];
  const failures = known.filter(({ phase }) => phase === 'bad').map(({ at }) => at);
  const all = Math.max(...known.map(({ at }) => at), 0);
  const failed = Math.min(...failures);
  const decided = failFast ? Math.min(failed, all) : all;
  const wanted = failures.length === 0 || (failFast && failed > decided) ? 'finished' : 'failed';
  const status = statusWord(main) ?? 'none';
  const pages = ids.length > 2 ? 2 * stage.tripMs * (3 + stage.operations.length + 10) : 0;
  const aLook = 2 * stage.tripMs * ids.length + pages;
  const deadline = plan.timeoutMs === 0 ? main.startedAt : deadlineOf(step);
  const margin = aLook + 10;
  if (decided < deadline - margin) {
    if (status !== wanted) return [`nothing went wrong, but the status is ${status} instead of ${wanted}`];
    const from = Math.max(decided, main.startedAt);
    const interval = Number.parseInt(plan.inputs['poll-interval'] ?? '', 10) * 1_000;
    const lag = interval || Math.min(5_000, Math.max(500, (from - main.startedAt) / 4));
    if (main.endedAt > from + lag + 2 * margin) return [`heard of the end ${Math.round(main.endedAt - from)} ms late`];
    if (!failFast && main.endedAt < all) return ['ended before all had'];
  }
  if (
    decided > deadline + 1_100 + margin &&
    status !== 'timeout' &&
    !(status === 'failed' && failed < deadline + 1_100 + margin)
  )
    return [`nothing had ended by the deadline, but the status is ${status}`];
  return [];
}
