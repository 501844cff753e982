import type { Run } from './record.js';
import { creationOf, revocationOf, startOf } from './truth.js';

/** All events of a run in order of time, for people. */
export function traceOf({ plan, stage, steps }: Run): string {
  const events = plan.jobs.flat().flatMap((step) => step.events);
  const lines: [at: number, text: string][] = events.map(({ atMs, what }) => [atMs, `others   ${what}`]);
  for (const [index, step] of steps.entries())
    for (const process of step.processes) {
      const name = `${process.part} ${index + 1}`.padEnd(8);
      const add = (at: number, text: string) => lines.push([at, `${name} ${text}`]);
      add(process.startedAt, 'starts');
      for (const { n, at, method, path, body, authorization, endedAt, fault, response, error } of process.sent) {
        add(at, `→ ${n} ${method} ${path} ${body} as key ${stage.plane.keyOfSecret(authorization.slice(7))?.id}`);
        if (endedAt === undefined) continue;
        const outcome = response === undefined ? error : `${response.status} ${short(response.body)}`;
        add(endedAt, `← ${n} ${fault ?? ''} ${response?.headers['retry-after'] ?? ''} ${outcome}`);
      }
      for (const { at, kind, name: of, text } of process.messages)
        if (kind !== 'mask' && kind !== 'debug') add(at, `says ${kind} ${of} ${short(text, 400)}`);
      if (process.signalledAt !== undefined) add(process.signalledAt, 'gets a signal');
      add(process.endedAt, `ends: ${process.exit} ${process.crash ?? ''}`);
    }
  const keys = stage.keys().map((key) => {
    return `key ${key.id} ${key.name}, created at ${creationOf(key)}, revoked at ${revocationOf(key)}`;
  });
  const operations = stage.operations.map((one) => {
    return `operation ${one.id} ${one.action} at ${startOf(one)} ${JSON.stringify(one.course)}`;
  });
  // `sort` keeps the order of lines with the same time.
  lines.sort(([one], [other]) => one - other);
  const print = (value: unknown) =>
    JSON.stringify(value, (name, inner) => (name === 'environment' || name === 'events' ? undefined : inner));
  return [
    `service ${print(stage.plane.notShown)}, a trip takes ${stage.tripMs} ms`,
    ...plan.jobs.flat().map((step, index) => `step ${index + 1}: ${print(step)}`),
    print({ ...plan, jobs: undefined, runs: [...plan.runs] }),
    ...lines.map(([at, text]) => `${at.toFixed(0).padStart(8)}  ${text}`),
    ...[...keys, ...operations].map((truth) => `   truth  ${truth}`),
  ].join('\n');
}

/** Names of files differ in each run, and change nothing. */
function short(text: string, max = 160): string {
  const line = text.slice(0, 10 * max).replaceAll('\n', '⏎');
  return line.replace(/\S*(ctl-[a-z-]+)-[0-9a-f-]{36}/g, '$1-…').slice(0, max);
}
