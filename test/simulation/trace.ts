import { violationsOf } from './invariants/index.js';
import type { Run } from './record.js';
import { creationOf, revocationOf, startOf } from './truth.js';

/** Prints the trace and the violations of a run. Returns whether it has none. */
export function showRun(run: Run): boolean {
  const violations = violationsOf(run);
  console.log([traceOf(run), ...violations].join('\n\n'));
  return violations.length === 0;
}

/** All events of a run in order of time, for people. */
export function traceOf({ plan, stage, steps }: Run): string {
  const events = plan.jobs.flat().flatMap((step) => step.events);
  const lines: [at: number, text: string][] = events.map(({ atMs, what }) => [atMs, `others   ${what}`]);
  for (const [index, step] of steps.entries()) {
    for (const process of step.processes) {
      const name = `${process.part} ${index + 1}`.padEnd(8);
      const add = (at: number, text: string) => lines.push([at, `${name} ${text}`]);
      add(process.startedAt, 'starts');
      for (const sent of process.sent) {
        const { n, at, method, path, body, authorization, endedAt, fault, response, error } = sent;
        add(at, `→ ${n} ${method} ${path} ${body} as key ${stage.plane.keyOfSecret(authorization.slice(7))?.id}`);
        if (endedAt === undefined) continue;
        const retryAfter = response?.headers['retry-after'];
        const asked = retryAfter === undefined ? '' : `, Retry-After ${retryAfter}`;
        const outcome = response === undefined ? error : `${response.status}${asked} ${short(response.body)}`;
        add(endedAt, `← ${n}${fault === undefined ? '' : ` (${fault})`} ${outcome}`);
      }
      for (const { at, kind, name: of, text } of process.messages)
        if (kind !== 'mask' && kind !== 'debug') add(at, `says ${kind} ${of} ${short(text, 400)}`);
      if (process.signalledAt !== undefined) add(process.signalledAt, 'gets a signal');
      if (process.crash !== undefined) add(process.endedAt, `crashed: ${process.crash}`);
      add(process.endedAt, `ends: ${process.exit}, ${process.texts('error').length} errors`);
    }
  }
  const addTruth = (text: string) => lines.push([Number.POSITIVE_INFINITY, `truth    ${text}`]);
  for (const key of stage.keys())
    addTruth(`key ${key.id} ${key.name}, created at ${creationOf(key)}, revoked at ${revocationOf(key)}`);
  for (const operation of stage.operations) {
    const { id, action, course, appearsAfterMs, vanishesAfterMs } = operation;
    const phases = course.map(({ afterMs, status }) => `${status} +${afterMs}`).join(', ');
    const visible = `visible from +${appearsAfterMs} to +${vanishesAfterMs}`;
    addTruth(`operation ${id} ${action} at ${startOf(operation)}, ${phases}, ${visible}`);
  }
  // `sort` keeps the order of lines with the same time.
  lines.sort(([one], [other]) => (one === other ? 0 : one - other));
  const print = (value: unknown) =>
    JSON.stringify(value, (name, inner) => (name === 'environment' || name === 'events' ? undefined : inner));
  return [
    `seed ${plan.seed}`,
    `service ${print(stage.plane.notShown)}, a trip takes ${stage.tripMs} ms`,
    ...plan.jobs.flat().map((step, index) => `step ${index + 1}: ${print(step)}`),
    `faults ${print(plan.faults)}`,
    `outages ${print(plan.outages)}`,
    `runs ${print([...plan.runs])}`,
    ...lines.map(([at, text]) => `${Number.isFinite(at) ? at.toFixed(0).padStart(8) : '     end'}  ${text}`),
  ].join('\n');
}

/** Names of files differ in each run, and change nothing. */
function short(text: string, max = 160): string {
  const line = text
    .slice(0, 10 * max)
    .replaceAll('\n', '⏎')
    .replace(/\S*(ctl-[a-z-]+)-[0-9a-f-]{36}/g, '$1-…');
  return line.length > max ? `${line.slice(0, max)}…` : line;
}
