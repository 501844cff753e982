import { expect, test } from 'vitest';
import { silent } from '../../../../src/api/log.js';
import { parseFilter } from '../../../../src/modes/list/filter.js';
import { ProgressLog } from '../../../../src/modes/wait-operation/progress-log.js';
import type { Target } from '../../../../src/modes/wait-operation/tracked-operations.js';
import { TrackedOperations } from '../../../../src/modes/wait-operation/tracked-operations.js';
import { Cancellation, Deadline } from '../../../../src/time/deadline.js';
import { VirtualClock } from '../../../virtual/clock.js';

const ids = ['a', 'b', 'c', 'd', 'e'].map((letter) => `${letter}07f8772-1877-4da9-a939-3a3ae62d1d8d`);
const all: Target = { all: parseFilter('', []) };

function scene(target: Target, timeout = 600_000) {
  const clock = new VirtualClock();
  const limit = new Deadline(clock, timeout, new Cancellation());
  const roster = new TrackedOperations(target, 'p');
  const lines: string[] = [];
  const narrator = new ProgressLog({ ...silent, info: (line) => lines.push(line) }, limit, () => roster.all);
  const pass = (ms: number) => clock.run(new Promise<void>((resolve) => clock.schedule(clock.now() + ms, resolve)));
  const see = (id: string, status: string) => {
    const operation = { id, status, record: { id, status, action: 'create_branch', branch_id: 'br-1' } };
    const from = roster.get(id)?.status;
    roster.update(operation);
    narrator.statusChanged(operation, from);
  };
  return { lines, narrator, pass, see };
}

test('where nothing changes there is a line a minute, with what is awaited and the time left', async () => {
  const { lines, narrator, pass, see } = scene({ ids: ids.slice(0, 1) });
  narrator.start(['p']);
  see(ids[0] ?? '', 'running');
  await pass(185_000);
  narrator.stop();
  expect(lines).toHaveLength(5);
  expect(lines.slice(2).map((line) => line.trim())).toEqual([
    `1m  Still waiting for create_branch on br-1 [${ids[0]}] (running); 9m left.`,
    `2m  Still waiting for create_branch on br-1 [${ids[0]}] (running); 8m left.`,
    `3m  Still waiting for create_branch on br-1 [${ids[0]}] (running); 7m left.`,
  ]);
});

test('a change is a sign of life, and the minute begins anew', async () => {
  const { lines, narrator, pass, see } = scene({ ids: ids.slice(0, 1) });
  narrator.start(['p']);
  await pass(50_000);
  see(ids[0] ?? '', 'running');
  await pass(50_000);
  expect(lines).toHaveLength(2);
  await pass(15_000);
  expect(lines).toHaveLength(3);
  narrator.stop();
});

test('of many that are awaited some are named and the others counted', async () => {
  const { lines, narrator, pass } = scene({ ids });
  narrator.start(['p']);
  await pass(61_000);
  narrator.stop();
  expect(lines[1]).toMatch(/Still waiting for \[a07.*\], \[b07.*\], \[c07.*\] and 2 more; 9m left\./);
});

test('before anything was seen a sign of life says what it waits for', async () => {
  const { lines, narrator, pass } = scene(all);
  narrator.start(['p']);
  await pass(61_000);
  narrator.stop();
  expect(lines).toHaveLength(2);
  expect(lines[1]).not.toMatch(/for ;|for +;/);
});

test('a look without an end has no time left to tell', async () => {
  const { lines, narrator, pass } = scene(all, Number.POSITIVE_INFINITY);
  narrator.start(['p']);
  await pass(61_000);
  narrator.stop();
  expect(lines.join('\n')).not.toMatch(/Infinity|NaN/);
});

test('when it is over nothing more is said', async () => {
  const { lines, narrator, pass } = scene({ ids });
  narrator.start(['p']);
  narrator.stop();
  await pass(300_000);
  expect(lines).toHaveLength(1);
});
