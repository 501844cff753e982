import { expect, test } from 'vitest';
import { act, setStage } from './stage.js';

test.concurrent('list-projects writes 100,000 projects to the result file, and warns that the outputs are too large', async (context) => {
  const { run } = await setStage(context, { projects: 100_000 });

  const job = await run({
    outputs: {
      count: '${{ steps.all.outputs.count }}',
      ids: '${{ steps.all.outputs.project-ids }}',
      batches: '${{ steps.all.outputs.batches }}',
    },
    steps: [
      act('all', 'list-projects'),
      {
        id: 'count',
        run: 'node -e \'console.log(`It holds ${JSON.parse(fs.readFileSync(process.argv[1], "utf8")).projects.length}.`)\' "${{ steps.all.outputs.result-file }}"',
      },
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['all']?.warnings).toEqual([
    expect.stringMatching(/too large: project-ids, batches, projects\. .*result-file/),
  ]);
  expect(job.steps['all']?.summary).toMatch(/^### ⚠️ list-projects: 100000 projects/);
  expect(job.steps['count']?.log).toContain('It holds 100000.');
  expect(job.outputs).toEqual({ count: '100000' });
});

test.concurrent('batches for 256 jobs fit into a job output, and one step waits for a whole batch', async (context) => {
  const { service, run } = await setStage(context, { projects: 20 * 256, operations: 0 });

  const job = await run({
    outputs: { batches: '${{ steps.list.outputs.batches }}', count: '${{ steps.list.outputs.count }}' },
    steps: [
      act('list', 'list-projects'),
      act('wait', 'wait-operation', {
        'project-id': '${{ toJSON(fromJSON(steps.list.outputs.batches)[255]) }}',
        'operation-id': 'all',
        timeout: '0',
      }),
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  const batches: string[][] = JSON.parse(job.outputs['batches'] ?? '');
  expect(batches).toHaveLength(256);
  expect(batches.flat().sort()).toEqual([...service.plane.projectIds].sort());
  const asked = service.requests.filter(({ endpoint }) => endpoint === 'list-operations');
  expect(new Set(asked.map(({ path }) => path.split('/')[3]))).toEqual(new Set(batches[255]));
});

test.concurrent('100 failed operations with long texts give one error, and ids that a later step can read', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const word = 'long-word-'.repeat(500);
  const fields = { action: word, branch_id: word, endpoint_id: word };
  const ids = Array.from(
    { length: 100 },
    () => service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed', fields }).id,
  );

  const job = await run({
    outputs: { ids: '${{ steps.wait.outputs.operation-ids }}', status: '${{ steps.wait.outputs.status }}' },
    steps: [
      act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': ids.join(','), 'fail-fast': 'false' }),
      {
        id: 'show',
        if: 'always()',
        env: { IDS: '${{ steps.wait.outputs.operation-ids }}', RECORDS: '${{ steps.wait.outputs.operations }}' },
        run: 'echo "${#IDS} ${#RECORDS}"; grep -o long-word- "${{ steps.wait.outputs.result-file }}" | wc -l',
      },
    ],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['wait']?.errors).toEqual([expect.stringContaining('100')]);
  expect(job.steps['wait']?.errors[0]?.length).toBeLessThan(4_096);
  expect(job.steps['wait']?.warnings).toEqual([expect.stringMatching(/too large: operations\./)]);
  expect(job.steps['wait']?.summary).toMatch(/^### ❌ wait-operation/);
  expect(job.outputs['status']).toBe('failed');
  expect(JSON.parse(job.outputs['ids'] ?? '').sort()).toEqual([...ids].sort());
  expect(job.steps['show']?.log).toMatch(new RegExp(`^${JSON.stringify(ids).length} 0\n${100 * 3 * 500}$`, 'm'));
});

test.concurrent('a later step can read records of up to 30,000 characters, and more leave the output empty', async (context) => {
  const { service, run } = await setStage(context, { projects: 0 });
  const add = (count: number) => {
    for (let left = count; left > 0; left--) service.plane.addProject({ name: 'n'.repeat(1_000) });
  };
  const steps = [
    act('list', 'list-projects'),
    {
      id: 'show',
      env: { RECORDS: '${{ steps.list.outputs.projects }}' },
      run: 'printf %s "$RECORDS" | node -e \'console.log(`It has ${JSON.parse(fs.readFileSync(0, "utf8") || "[]").length} records.`)\'',
    },
  ];

  add(15);
  const whole = await run({ steps });
  add(15);
  const cut = await run({ steps });

  expect(whole.conclusion).toBe('succeeded');
  expect(whole.steps['list']?.warnings).toEqual([]);
  expect(whole.steps['show']?.log).toContain('It has 15 records.');
  expect(cut.conclusion).toBe('succeeded');
  expect(cut.steps['list']?.warnings).toEqual([expect.stringMatching(/too large: projects\./)]);
  expect(cut.steps['show']?.log).toContain('It has 0 records.');
});
