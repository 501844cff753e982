import { type ProcessRecord, processesOf, type Run, type Sent, type StepRecord } from '../record.js';
import { retryAfterOf } from '../retry-after.js';
import {
  ambiguousCreates,
  asksForPatience,
  deadlineOf,
  idOfDelete,
  isKeyList,
  isRefusal,
  keysOf,
  maxAmbiguousCreates,
  wasFaulty,
} from '../truth.js';

const longestLeftAlone = 60_000;

/**
 * Never a POST twice without the reconciliation between; bounded by a formula of time waited, records and pages; never sooner
 * than Retry-After.
 */
export function requestsAreFew(run: Run): string[] {
  return run.steps.flatMap((step) => [
    ...repeatedPosts(step),
    ...processesOf(step).flatMap((process) => [
      ...tooMany(run, step, process),
      ...tooManyAtOnce(process),
      ...tooSoon(step, process),
    ]),
  ]);
}

/** Between two POSTs, of which the first may have been carried out, there is a whole list of keys. */
function repeatedPosts({ main, post }: StepRecord): string[] {
  const problems = post?.sent.some(({ method }) => method === 'POST') ? ['post sent a POST'] : [];
  const ambiguous = ambiguousCreates(main).length;
  if (ambiguous > maxAmbiguousCreates) problems.push(`${ambiguous} creates that may have taken effect were sent`);
  let open: Sent | undefined;
  for (const sent of main.sent) {
    if (isKeyList(sent)) open = undefined;
    if (sent.method !== 'POST') continue;
    if (open !== undefined) problems.push(`POST ${sent.n} repeats POST ${open.n}, which may have been carried out`);
    open = isRefusal(sent) || !sent.mayBeDone ? undefined : sent;
  }
  return problems;
}

function tooMany(run: Run, step: StepRecord, process: ProcessRecord): string[] {
  const most = mostRequests(run, step, process);
  const problems =
    process.sent.length > most
      ? [`${process.part} sent ${process.sent.length} requests, at most ${most} make sense`]
      : [];
  const patience = process.sent.filter(asksForPatience).length;
  // Post has 20 s alone: it looks about once a second, and tries each key at each look.
  const aTry = process.part === 'post' ? 1_000 : 10_000;
  const mostPatience = (12 + (process.endedAt - process.startedAt) / aTry) * sideBySide(run, step);
  if (patience > mostPatience) problems.push(`${process.part} was asked for patience ${patience} times`);
  return problems;
}

const mostAtOnce = 12;

function tooManyAtOnce({ sent, part, endedAt }: ProcessRecord): string[] {
  const crowd = sent.find(
    ({ at }) => sent.filter((one) => one.at <= at && (one.endedAt ?? endedAt) > at).length > mostAtOnce,
  );
  return crowd === undefined ? [] : [`${part} had more than ${mostAtOnce} requests under way at ${crowd.at}`];
}

function sideBySide(run: Run, step: StepRecord): number {
  const { mode } = step.plan.expects;
  if (mode === 'wait-operation') return mostAtOnce;
  return mode === 'revoke-key' || mode === 'sweep-keys' ? 20 : Math.max(2, keysOf(run, step).length);
}

/** Of time waited, records and pages; each request is tried 5 times, what asks for patience apart. */
function mostRequests(run: Run, step: StepRecord, process: ProcessRecord): number {
  const { stage } = run;
  const { expects, inputs, timeoutMs } = step.plan;
  const lasted = process.endedAt - process.startedAt;
  const patience = process.sent.filter(asksForPatience).length;
  const pageSize = Math.min(100, stage.plane.notShown.maximumPageSize);
  const tries = 5;
  if (process.part === 'post') return 40 * (2 + 2 * keysOf(run, step).length);
  switch (expects.mode) {
    case 'wait-operation': {
      const interval = Number.parseInt(inputs['poll-interval'] ?? '', 10) * 1_000 || 490;
      const listed = expects.projectIds.reduce((sum, id) => sum + listedOf(stage, id), 0);
      const pages = Math.ceil(Math.min(200, listed) / pageSize) + 1;
      const aLook =
        expects.ids === 'all'
          ? pages * expects.projectIds.length + stage.operations.length
          : expects.ids.length + (expects.ids.length > 2 ? pages : 0);
      if (timeoutMs === 0) return aLook;
      const failed = process.sent.filter(wasFaulty).length;
      // Besides the looks: a first one that is tried again, a page that is, and the last look.
      return (2 + lasted / interval) * aLook + Math.min(failed, tries * aLook) + failed + patience;
    }
    case 'list-operations':
    case 'list-projects': {
      const records = expects.mode === 'list-projects' ? 40 : 260;
      const size =
        expects.mode === 'list-projects'
          ? Math.min(pageSize, stage.plane.notShown.projectsPageSize || pageSize)
          : pageSize;
      const failed = process.sent.filter(wasFaulty).length;
      return Math.ceil(records / size) + 6 + failed;
    }
    case 'list-keys':
      return tries + patience;
    case 'create-key':
      return tries * (1 + tries + 2 * tries * keysOf(run, step).length) + patience;
    default: {
      const ids = new Set(process.sent.flatMap((sent) => idOfDelete(sent) ?? [])).size;
      // Patience that the list asks for is had before the next revocation, which asks for the list again.
      return tries + 2 * tries * ids + 2 * patience;
    }
  }
}

function listedOf({ plane }: Run['stage'], projectId: string): number {
  // A project that was removed meanwhile may have had as many as the largest.
  return plane.operationTimeline(projectId)?.page(undefined, Number.POSITIVE_INFINITY).items.length ?? 260;
}

function tooSoon(step: StepRecord, { sent, part }: ProcessRecord): string[] {
  const deadline = deadlineOf(step);
  return sent.flatMap((first, index) => {
    const asked = retryAfterOf(first);
    if (asked === undefined || first.endedAt === undefined || !asksToWait(first)) return [];
    const isWait = step.plan.mode === 'wait-operation';
    const counted = isWait && !asksForPatience(first) ? Math.min(asked, longestLeftAlone) : asked;
    const until = first.endedAt + counted - 1;
    const early = sent
      .slice(index + 1)
      .find(
        (next) =>
          next.at >= (first.endedAt ?? 0) && next.at > first.at && next.at < until && isBound(step, first, next),
      );
    if (early === undefined) return [];
    // The one look at the deadline that a wait is promised.
    if (isWait && !asksForPatience(first) && early.at >= deadline) return [];
    return [
      `${part}: request ${early.n} came ${Math.round(until + 1 - early.at)} ms before the Retry-After of request ${first.n} was over`,
    ];
  });
}

function asksToWait({ answer }: Sent): boolean {
  const status = answer?.status ?? 0;
  return [408, 423, 425, 429].includes(status) || status >= 500;
}

/** Every request has to wait; after what was said of one thing in the midst of others, a lock or a failed look, the same one. */
function isBound({ plan: { mode } }: StepRecord, first: Sent, next: Sent): boolean {
  if (first.method === next.method && withoutQuery(first) === withoutQuery(next)) return true;
  const status = first.answer?.status;
  if (status === 423 || (status !== 429 && mode === 'wait-operation')) return false;
  // Of those who work side by side one may ask in the moment in which another is told.
  return next.at !== first.endedAt || !['revoke-key', 'sweep-keys', 'create-key', 'wait-operation'].includes(mode);
}

function withoutQuery({ path }: Sent): string {
  return path.replace(/\?.*/, '');
}
