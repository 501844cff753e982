import type { Operation } from '../control-plane/index.js';
import { type Account, exchangesOf, isSound } from './account.js';
import type { Services, Subject } from './subject.js';

const endless = { lengthMs: Number.POSITIVE_INFINITY };

/** `requests`: so many have been answered when the operations end, and the one that follows is the first to see it. */
function wait(
  name: string,
  {
    operations = 1,
    requests,
    ids = (started: readonly Operation[]) => started.map(({ id }) => id).join(' '),
    inputs = {},
    ...more
  }: {
    readonly operations?: number;
    readonly requests: number;
    readonly ids?: (started: readonly Operation[]) => string;
    readonly inputs?: Readonly<Record<string, string>>;
  } & Partial<Subject>,
): Subject {
  return {
    name: `wait-operation, ${name}`,
    ...more,
    set: ({ control, projectId }: Services) => {
      const { plane } = control;
      const started = Array.from({ length: operations }, () => plane.startOperation({ projectId, ...endless }));
      let endedAt = Number.POSITIVE_INFINITY;
      const end = () => {
        for (const operation of started) plane.endOperation(operation);
        endedAt = Date.now();
      };
      if (requests === 0) end();
      else control.arrived({ n: requests }).then(end, () => undefined);
      return {
        inputs: { mode: 'wait-operation', 'project-id': projectId, 'operation-id': ids(started), ...inputs },
        falsehood: (account) => {
          const running = started.filter((operation) => plane.statusOf(operation) !== 'finished');
          if (running.length > 0) return `${running.map(({ id }) => id)} had not finished`;
          return wasTold(account, endedAt) ? undefined : 'no sound answer has ever said so';
        },
      };
    },
  };
}

function wasTold(account: Account, endedAt: number): boolean {
  return exchangesOf(account).some((exchange) => isSound(exchange) && (exchange.endedAt ?? 0) >= endedAt);
}

export const waits: readonly Subject[] = [
  wait('one id', { requests: 2, isPlace: ({ nth }) => nth <= 2 }),
  wait('many ids', { operations: 4, requests: 2, isPlace: ({ nth }) => nth <= 2 }),
  wait('all', { operations: 2, requests: 2, ids: () => 'all', isPlace: ({ nth }) => nth <= 4 }),
  wait('one id, ended just before the deadline', {
    requests: 1,
    inputs: { 'poll-interval': '1h' },
    timeout: 4,
    repeats: ({ nth }) => nth === 1,
    isPlace: ({ nth }) => nth <= 2,
  }),
  wait('one id, looked at once', { requests: 0, inputs: { timeout: '0' }, timeout: 2, repeats: () => false }),
];
