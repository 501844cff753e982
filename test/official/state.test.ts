import { expect, type TestContext, test } from 'vitest';
import type { WorkStep } from './plan.js';
import { act, preloading, setStage } from './stage.js';

/** Killed before it saved a state: its post gets the one that another step forged. */
const victim = act(
  'victim',
  'list-projects',
  {},
  {
    env: { ...preloading('signal-at'), SIGNAL_AT: 'SIGKILL before state 1' },
  },
);

/** A job that makes a key, and a thief who listens at an address of its own. */
async function setScene(context: TestContext) {
  const stage = await setStage(context);
  const { service: thief } = await setStage(context, { apiKey: 'the-key-of-the-thief' });
  thief.faults.add({ fault: { kind: 'status', status: 403 } });
  /** Reads the states that earlier steps saved, changes them, and sets the result for the post steps of other actions. */
  const forge = (change: string): WorkStep => ({
    id: 'forge',
    env: { THIEF: thief.baseUrl },
    run: `node -e '
const { readdirSync, readFileSync, appendFileSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const folder = dirname(process.env.GITHUB_ENV);
for (const name of readdirSync(folder).filter((name) => name.startsWith("save_state_"))) {
  const text = readFileSync(join(folder, name), "utf8");
  const [, seal, json] = /^([0-9a-f]{64})(\\{.*minted.*\\})$/m.exec(text) ?? [];
  if (seal === undefined) continue;
  const state = JSON.parse(json);
  ${change}
  const forged = seal + JSON.stringify(state);
  appendFileSync(process.env.GITHUB_ENV, "STATE_key=" + forged + "\\n");
  writeFileSync(join(folder, name), text.replaceAll(/[0-9a-f]{64}\\{.*\\}/g, () => forged));
  console.log("It is forged.");
}
'`,
  });
  return { ...stage, thief, forge };
}

test.concurrent('post uses the state of its own step, not a state that another step forged', async (context) => {
  const { service, thief, forge, run } = await setScene(context);

  const job = await run({
    steps: [
      act('mint', 'create-key'),
      forge('state.baseUrl = process.env.THIEF'),
      act('projects', 'list-projects'),
      act('bad', 'no-such-mode'),
    ],
  });

  expect(job.steps['forge']?.log).toContain('It is forged.');
  expect(thief.requests).toEqual([]);
  expect(job.steps['Post projects']).toMatchObject({ conclusion: 'succeeded', log: 'Post job cleanup.\n' });
  expect(job.steps['Post bad']).toMatchObject({ conclusion: 'succeeded', log: 'Post job cleanup.\n' });
  expect(job.steps['Post mint']?.log).toMatch(/Revoked 2 \(/);
  expect(service.plane.isAlive('2')).toBe(false);
});

test.concurrent('if main is killed before it saves a state, a forged state does not make post send the parent key', async (context) => {
  const { service, thief, forge, run } = await setScene(context);

  const job = await run({
    steps: [act('mint', 'create-key'), forge('state.baseUrl = process.env.THIEF'), victim],
  });

  expect(job.steps['victim']?.conclusion).toBe('failed');
  // Whoever forges the state has read the minted key in it.
  const minted = `Bearer ${service.plane.key('2')?.key}`;
  expect(new Set(thief.requests.map(({ headers }) => headers['authorization']))).toEqual(new Set([minted]));
  expect(service.plane.isAlive('2')).toBe(false);
});

test.concurrent('post sends nothing for a forged state without a minted key', async (context) => {
  const { thief, forge, run } = await setScene(context);

  const job = await run({
    steps: [
      act('mint', 'create-key'),
      forge('state.baseUrl = process.env.THIEF; state.minted = undefined; state.lostCreates = 1'),
      victim,
    ],
  });

  expect(job.steps['forge']?.log).toContain('It is forged.');
  expect(thief.requests).toEqual([]);
});
