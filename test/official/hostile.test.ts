import { expect, test } from 'vitest';
import { act, setStage } from './stage.js';

const command = '##[set-output name=evil;]HACKED';

test.concurrent('a command in a name of the service sets nothing, also where a later step prints the records', async (context) => {
  const { service, run } = await setStage(context);
  const { id } = service.plane.addProject({ name: `x ${command}`, [command]: command });

  const job = await run({
    outputs: {
      ...Object.fromEntries(['list', 'print', 'control'].map((step) => [step, `\${{ steps.${step}.outputs.evil }}`])),
      project: '${{ fromJSON(steps.list.outputs.projects)[0].name }}',
    },
    steps: [
      act('list', 'list-projects'),
      {
        id: 'print',
        env: { PROJECTS: '${{ steps.list.outputs.projects }}', FILE: '${{ steps.list.outputs.result-file }}' },
        run: 'echo "$PROJECTS" && cat "$FILE"',
      },
      // The runner does obey such a line.
      { id: 'control', run: `echo 'x ${command}'` },
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['print']?.log).toContain(id);
  expect(job.outputs).toEqual({ control: 'HACKED', project: `x ${command}` });
});
