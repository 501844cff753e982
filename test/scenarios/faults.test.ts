import { readFileSync } from 'node:fs';
import { expect, type TestContext, test } from 'vitest';
import type { Fault, FaultRule } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { reach } from './reach.js';
import { quickDice } from './sabotage.js';
import { errorOf, type Stage, setStage } from './stage.js';

interface Meeting {
  readonly fault: Fault;
  /** Exchanges are given up early: it would hold them. */
  readonly holds?: boolean;
  /** Another end than `finished`, where it strikes once. */
  readonly once?: Partial<Record<Phase, readonly string[]>>;
  /** Another end than `error` before and `timeout` after the first good look, where it strikes each time. */
  readonly lasting?: Partial<Record<Phase, readonly string[]>>;
  /** How often it is tried at most before the first good answer. */
  readonly tries?: number;
}

type Phase = 'first' | 'later';

/** Each kind once, and of some all that a network can make of it. */
const meetings: { readonly [Kind in Fault['kind']]: Readonly<Record<string, Meeting & { fault: { kind: Kind } }>> } = {
  'hang-before-headers': { hang: { fault: { kind: 'hang-before-headers' }, holds: true } },
  'hang-mid-body': { 'hang mid-body': { fault: { kind: 'hang-mid-body' }, holds: true } },
  drip: { 'drip of bytes': { fault: { kind: 'drip', intervalMs: 100 }, holds: true } },
  // What comes too late for one exchange may be followed by one in time.
  delay: {
    'delay beyond request-timeout': { fault: { kind: 'delay', ms: 20_000 }, holds: true },
    'bearable delay': {
      fault: { kind: 'delay', ms: 100 },
      lasting: { first: ['finished'], later: ['finished'] },
    },
  },
  'cut-before-headers': {
    'closed connection': { fault: { kind: 'cut-before-headers' } },
    'reset connection': { fault: { kind: 'cut-before-headers', by: 'reset' } },
  },
  'cut-mid-body': {
    'body cut short of its length': { fault: { kind: 'cut-mid-body' } },
    'body cut within its chunks': { fault: { kind: 'cut-mid-body', framing: 'chunked' } },
    'body that is reset': { fault: { kind: 'cut-mid-body', by: 'reset' } },
  },
  'close-on-next-request': {
    // Every other request is answered.
    'kept-alive connection closed': {
      fault: { kind: 'close-on-next-request' },
      lasting: { first: ['finished'], later: ['finished'] },
    },
  },
  status: {
    'status 503': { fault: { kind: 'status', status: 503 } },
    'status 500 without a body': { fault: { kind: 'status', status: 500, body: '' } },
    // Patience is no failure: it lasts until the deadline.
    'status 429': { fault: { kind: 'status', status: 429 }, lasting: { first: ['timeout'] } },
  },
  // No retry before the first good answer.
  redirect: {
    redirect: {
      fault: { kind: 'redirect', location: '/elsewhere' },
      once: { first: ['error'] },
      tries: 1,
    },
  },
  html: {
    'HTML with 200': { fault: { kind: 'html' } },
    'HTML with 502': { fault: { kind: 'html', status: 502 } },
  },
  'bad-json': { 'bad JSON': { fault: { kind: 'bad-json' } } },
  'empty-body': { 'empty body': { fault: { kind: 'empty-body' } } },
  'endless-body': {
    // Whether 256 MiB or the end of request-timeout comes first is up to the machine; the former is not tried again.
    'body without end': {
      fault: { kind: 'endless-body' },
      holds: true,
      once: { first: ['finished', 'error'] },
    },
  },
};

/** What is looked at, and how many requests a look takes. */
const looks = {
  'a single id': { ids: (id: string) => id, requests: 1 },
  // The newest page, and the empty one behind it.
  'the list': { ids: () => 'all', requests: 2 },
} as const;

// First, because they take longest.
for (const [name, fault] of Object.entries({
  'status 503': { kind: 'status', status: 503 },
  'closed connection': { kind: 'cut-before-headers' },
  'body cut short': { kind: 'cut-mid-body' },
} satisfies Record<string, Fault>)) {
  test.concurrent(`the back-off of five tries against a ${name} takes its time, but ends`, async (context) => {
    const { service, projectId, run } = await setStage(context, { faults: [{ fault }] });
    const operation = service.plane.startOperation({ projectId });

    const result = await run({ 'operation-id': operation.id }, { limitMs: 30_000 });

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(service.requests).toHaveLength(5);
    errorOf(result);
  });
}

for (const kind of Object.values(meetings)) {
  for (const [index, [name, meeting]] of Object.entries<Meeting>(kind).entries()) {
    for (const [what, look] of Object.entries(looks)) {
      // One of each kind is enough for the list, and what lasts until the deadline.
      if (index > 0 && look === looks['the list'] && !meeting.lasting?.first?.includes('timeout')) continue;

      test.concurrent(`a ${name} at the very first look at ${what} does not outlast itself`, async (context) => {
        const { operation, result } = await meet(context, meeting, look, 'first', { count: 1 }, { lengthMs: 1_500 });
        expectEnd(result, meeting.once?.first ?? ['finished'], operation.truth());
      });

      test.concurrent(`a ${name} after the first good look at ${what} does not outlast itself`, async (context) => {
        const { operation, result } = await meet(context, meeting, look, 'later', { count: 1 }, { lengthMs: 1_500 });
        expectEnd(result, meeting.once?.later ?? ['finished'], operation.truth());
      });

      test.concurrent(`a ${name} that lasts from the first look at ${what} on never ends green`, async (context) => {
        const lasting = meeting.lasting?.first ?? ['error'];
        const lengthMs = lasting.includes('finished') ? 700 : Number.POSITIVE_INFINITY;
        const timeout = lasting.includes('timeout') ? '3s' : '15s';
        const { operation, result, service } = await meet(context, meeting, look, 'first', {}, { lengthMs, timeout });
        expectEnd(result, lasting, operation.truth());
        if (!lasting.includes('error')) return;
        expect(service.requests.length).toBeLessThanOrEqual(meeting.tries ?? 5);
        if (!meeting.holds) expect(service.requests).toHaveLength(meeting.tries ?? 5);
      });

      test.concurrent(`a ${name} that lasts after the first good look at ${what} never ends green`, async (context) => {
        const { operation, result } = await meet(
          context,
          meeting,
          look,
          'later',
          {},
          // It has finished long before the deadline, but no answer ever said so.
          { lengthMs: 400, timeout: '4s' },
        );
        expect(operation.truth()).toBe('finished');
        expectEnd(result, meeting.lasting?.later ?? ['timeout'], operation.truth());
      });
    }
  }
}

async function meet(
  context: TestContext,
  { fault, holds = false }: Meeting,
  look: (typeof looks)[keyof typeof looks],
  phase: Phase,
  often: Pick<FaultRule, 'count'>,
  { lengthMs, timeout = '10s' }: { readonly lengthMs: number; readonly timeout?: string },
): Promise<{ service: Stage['service']; operation: { truth(): string }; result: StepResult }> {
  const { service, projectId, start } = await setStage(context);
  const { plane, faults } = service;
  if (phase === 'first') faults.add({ fault, ...often });
  const operation = plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY });
  const step = start(
    {
      'operation-id': look.ids(operation.id),
      timeout,
      'request-timeout': holds ? '1s' : '10s',
    },
    { nodeArgs: quickDice },
  );
  // Its time counts from the first request on, so that a slow start of the process changes nothing.
  await reach(step, service.arrived());
  const finish = setTimeout(() => plane.endOperation(operation), Math.min(lengthMs, 2 ** 31 - 1));
  context.onTestFinished(() => clearTimeout(finish));
  if (phase === 'later') {
    await reach(step, service.ended({ n: look.requests }));
    faults.add({ fault, ...often });
  }
  return { service, operation: { truth: () => plane.statusOf(operation) }, result: await step.done };
}

/** What the step says is one of the expected ends, and green only where it is true. */
function expectEnd(result: StepResult, statuses: readonly string[], truth: string): void {
  expect(result.overran).toBe(false);
  expect(statuses).toContain(result.outputs['status']);
  expect(readFileSync(result.outputs['result-file'] ?? '', 'utf8')).toContain(`"${result.outputs['status']}"`);
  if (result.outputs['status'] === 'finished') {
    expect(truth).toBe('finished');
    expect(result.conclusion).toBe('success');
    expect(result.outputs['operations']).toContain('"finished"');
    return;
  }
  expect(result.conclusion).toBe('failure');
  expect(result.exitCode).not.toBe(0);
  errorOf(result);
}
