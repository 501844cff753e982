import { processesOf, type Run, said } from './record.js';

/** Everything that happened in a run, in order of time, for people. */
export function traceOf({ plan, stage, steps }: Run): string {
  const lines: { readonly at: number; readonly text: string }[] = stage.happened.map(({ at, what }) => ({
    at,
    text: `others   ${what}`,
  }));
  for (const [index, step] of steps.entries()) {
    for (const process of processesOf(step)) {
      const who = `${process.part} ${index + 1}`.padEnd(8);
      const add = (at: number, text: string) => lines.push({ at, text: `${who} ${text}` });
      add(process.startedAt, 'begins');
      for (const sent of process.sent) {
        add(
          sent.at,
          `→ ${sent.n} ${sent.method} ${sent.path} ${sent.body} as key ${stage.plane.keyOfSecret(sent.authorization.slice(7))?.id}`,
        );
        if (sent.endedAt === undefined) continue;
        const fault = sent.fault === undefined ? '' : ` (${sent.fault})`;
        const asked = sent.answer?.headers['retry-after'];
        const outcome =
          sent.answer === undefined
            ? sent.broken
            : `${sent.answer.status}${asked === undefined ? '' : `, Retry-After ${asked}`} ${short(sent.answer.body)}`;
        add(sent.endedAt, `← ${sent.n}${fault} ${outcome}`);
      }
      for (const { at, kind, name, text } of process.words)
        if (kind !== 'mask' && kind !== 'debug') add(at, `says ${kind} ${name} ${short(text, 400)}`);
      if (process.signalledAt !== undefined) add(process.signalledAt, 'is signalled');
      if (process.crash !== undefined) add(process.endedAt, `crashed: ${process.crash}`);
      add(process.endedAt, `ends: ${process.exit}, ${said(process, 'error').length} errors`);
    }
  }
  for (const key of stage.keys()) {
    const revoked =
      key.revokedAt === undefined ? 'alive' : `revoked at ${key.revokedAt - stage.clock.epochMs() + stage.now}`;
    lines.push({
      at: Number.POSITIVE_INFINITY,
      text: `truth    key ${key.id} ${key.name}, made at ${key.createdAt - stage.clock.epochMs() + stage.now}, ${revoked}`,
    });
  }
  for (const { id, action, course, createdMicros, appearsAfterMs, vanishesAfterMs } of stage.operations) {
    const made = createdMicros / 1_000 - stage.clock.epochMs() + stage.now;
    lines.push({
      at: Number.POSITIVE_INFINITY,
      text: `truth    operation ${id} ${action}, made at ${made}, ${course.map(({ afterMs, status }) => `${status} +${afterMs}`).join(', ')}, seen +${appearsAfterMs} to +${vanishesAfterMs}`,
    });
  }
  // Of one moment, in the order in which it was noted.
  const ordered = lines
    .map((line, n) => ({ ...line, n }))
    .sort((one, other) => (one.at === other.at ? one.n - other.n : one.at - other.at));
  const head = plan.steps.map(
    (step, index) =>
      `step ${index + 1}: ${JSON.stringify({ ...step, environment: undefined, post: { ...step.post, environment: undefined, inputs: step.post.inputs['api-key'] } })}`,
  );
  return [
    `seed ${plan.seed}`,
    `service ${JSON.stringify(stage.plane.notShown)}, a trip takes ${stage.tripMs} ms`,
    ...head,
    `faults ${JSON.stringify(plan.faults)}`,
    `outages ${JSON.stringify(plan.outages)}`,
    ...ordered.map(({ at, text }) => `${Number.isFinite(at) ? at.toFixed(0).padStart(8) : '     end'}  ${text}`),
  ].join('\n');
}

/** Names of files are new each time, and change nothing. */
function short(text: string, most = 160): string {
  const line = text.replaceAll('\n', '⏎').replace(/\S*(ctl-[a-z-]+)-[0-9a-f-]{36}/g, '$1-…');
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
