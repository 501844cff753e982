import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { act, setStage } from './stage.js';

/** What github.com turns on; a server of one's own does not. */
const ofGitHub = ['usenode24bydefault', 'requirenode24', 'warnonnode20'].map((flag) => `actions.runner.${flag}`);
const steps = (uses: 'org/ctl-action@v1' | 'org/ctl-action/node24@v1') => [
  act('mint', 'create-key', {}, { uses, env: { NODE_OPTIONS: `--require ${resolve('test/official/say-node.cjs')}` } }),
];

test.concurrent.for([
  ['org/ctl-action@v1', 'Enterprise Server', 20, []],
  [
    'org/ctl-action@v1',
    'github.com',
    24,
    [expect.stringMatching(/^Node\.js 20 is deprecated\..+: org\/ctl-action@v1\./)],
  ],
  ['org/ctl-action/node24@v1', 'Enterprise Server', 24, []],
  ['org/ctl-action/node24@v1', 'github.com', 24, []],
] as const)('%s on %s runs on Node %i', async ([uses, server, node, warnings], context) => {
  const { service, run } = await setStage(context);

  const job = await run({ flags: server === 'github.com' ? ofGitHub : [], steps: steps(uses) });

  expect(job.conclusion).toBe('succeeded');
  for (const step of ['mint', 'Post mint']) expect(job.steps[step]?.log).toContain(`It is Node ${node}.`);
  expect(Object.values(job.steps).flatMap((step) => step.warnings)).toEqual(warnings);
  expect(service.plane.isAlive('2')).toBe(false);
});
