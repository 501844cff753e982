import { expect, test } from 'vitest';
import { act, observed, setStage } from './stage.js';

/** What a server turns on; one of one's own, and github.com until 2025, nothing. */
const flags = {
  'Enterprise Server': [],
  'github.com early in 2026': ['warnonnode20'],
  'github.com': ['usenode24bydefault', 'requirenode24', 'warnonnode20'],
} as const;
const running = /^Node\.js 20 actions are deprecated\..+: org\/ctl-action@v1\./;
const forced = /^Node\.js 20 is deprecated\..+: org\/ctl-action@v1\./;

test.concurrent.for([
  ['org/ctl-action@v1', 'Enterprise Server', 20, []],
  ['org/ctl-action@v1', 'github.com early in 2026', 20, [running]],
  ['org/ctl-action@v1', 'github.com', 24, [forced]],
  ['org/ctl-action/node24@v1', 'Enterprise Server', 24, []],
  ['org/ctl-action/node24@v1', 'github.com early in 2026', 24, []],
  ['org/ctl-action/node24@v1', 'github.com', 24, []],
] as const)('%s on %s runs on Node %i', async ([uses, server, node, warnings], context) => {
  const { service, run } = await setStage(context);

  const job = await run({
    flags: flags[server].map((flag) => `actions.runner.${flag}`),
    steps: [act('mint', 'create-key', {}, { uses, env: observed('say-node') })],
  });

  expect(job.conclusion).toBe('succeeded');
  for (const step of ['mint', 'Post mint']) expect(job.steps[step]?.log).toContain(`It is Node ${node}.`);
  expect(Object.values(job.steps).flatMap((step) => step.warnings)).toEqual(
    warnings.map((warning) => expect.stringMatching(warning)),
  );
  expect(service.plane.isAlive('2')).toBe(false);
});
