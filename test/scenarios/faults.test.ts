import { expect, test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import { reach } from './reach.js';
import { quickDice } from './sabotage.js';
import { errorOf, setStage } from './stage.js';

// Every fault at every exchange: test/faults.

test.concurrent('the back-off of five tries takes its time, but ends', async (context) => {
  const { service, projectId, run } = await setStage(context, { faults: [{ fault: { kind: 'status', status: 503 } }] });
  const operation = service.plane.startOperation({ projectId });

  const result = await run({ 'operation-id': operation.id }, { limitMs: 30_000 });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(service.requests).toHaveLength(5);
  errorOf(result);
});

const faults: Readonly<Record<string, Fault>> = {
  'status 503': { kind: 'status', status: 503 },
  'closed connection': { kind: 'cut-before-headers' },
  'body cut short of its length': { kind: 'cut-mid-body' },
};

/** What is looked at, and how many requests a look takes. */
const looks = {
  'a single id': { ids: (id: string) => id, requests: 1 },
  // The newest page, and the empty one behind it.
  'the list': { ids: () => 'all', requests: 2 },
} as const;

for (const [name, fault] of Object.entries(faults)) {
  for (const [what, look] of Object.entries(looks)) {
    test.concurrent(`a ${name} that lasts after the first good look at ${what} never ends green, though all has finished`, async (context) => {
      const { service, projectId, start } = await setStage(context);
      const operation = service.plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY });

      const step = start({ 'operation-id': look.ids(operation.id), timeout: '3s' }, { nodeArgs: quickDice });
      await reach(step, service.ended({ n: look.requests }));
      service.faults.add({ fault });
      service.plane.endOperation(operation);
      const result = await step.done;

      expect(result.overran).toBe(false);
      expect(result.outputs).toMatchObject({ status: 'timeout' });
      expect(result.readFile(result.outputs['result-file'] ?? '')).toContain('"timeout"');
      expect(result.conclusion).toBe('failure');
      errorOf(result);
    });
  }
}
