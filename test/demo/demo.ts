/** `npm run demo`: the bundle at work against the embedded control plane, as a runner would run it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGitHub } from '../../control-plane/github/index.js';
import { type OperationPlan, startControlPlane } from '../../control-plane/index.js';
import { makeKeyName, parseKeyName } from '../../src/keys/key-name.js';
import { Job } from '../runner/job.js';
import { type StepOptions, type StepResult, startPost, startStep } from '../runner/step.js';
import { headline, presentStep, showProgress, summaryPage } from './present.js';

const folder = 'build/demo';
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const job = new Job();
const service = await startControlPlane({ projects: 1, operations: 8 });
const [projectId = ''] = service.projectIds;
const access = { 'api-key': service.apiKey, 'base-url': service.baseUrl };
const onPurpose = '(fails on purpose)';

/** Prints what is to be seen before the step runs, and the step when it has ended. */
async function show(title: string, about: string, run: () => Promise<StepResult>): Promise<StepResult> {
  console.log(`${headline(title)}\n  ${about}\n`);
  const step = await run().finally(showProgress());
  const withoutFolder = (text: string) => text.replaceAll(job.temp, '$RUNNER_TEMP');
  const outputs = Object.fromEntries(Object.entries(step.outputs).map(([name, text]) => [name, withoutFolder(text)]));
  console.log(presentStep({ ...step, outputs, log: withoutFolder(step.log) }));
  const page = join(folder, `${title.replace(` ${onPurpose}`, '').replaceAll(/\W+/g, '-').toLowerCase()}.html`);
  writeFileSync(page, summaryPage(step.summary, title));
  console.log(`  Job summary: ${page}\n`);
  return step;
}

type Inputs = Readonly<Record<string, string>>;

function showStep(title: string, about: string, inputs: Inputs, more: StepOptions = {}) {
  const given = Object.entries(inputs).map(([name, value]) => `\n    ${name}: ${value}`);
  const run = () => startStep({ inputs: { ...access, ...inputs }, job, ...more }).done;
  return show(title, `${about}\n\n  Run org/ctl-action@v1 with${given.join('')}`, run);
}

/** A wait for what a change of the project sets off, with the response of the API as `curl -o` would leave it. */
async function gate(title: string, about: string, plans: readonly OperationPlan[], more: Inputs = {}) {
  const operations = plans.map((plan) => service.plane.startOperation(plan));
  const response = { operations: operations.map(({ id }) => ({ id, project_id: projectId })) };
  writeFileSync(join(job.workspace, 'response.json'), JSON.stringify(response));
  const inputs = { mode: 'wait-operation', 'project-id': projectId, 'response-file': 'response.json', ...more };
  await showStep(title, about, inputs);
}

async function lifeOfAKey(): Promise<string> {
  const about = 'A new API key for later steps, which the end of the job revokes.';
  const made = await showStep('A key for this job', about, { mode: 'create-key' });
  const { key = '', 'key-name': name = '' } = made.outputs;
  console.log(`${headline('A later step prints the key by mistake')}\n  The runner shows:\n`);
  console.log(`  ${job.masker.mask(`DB_API_KEY=${key}, in hex ${Buffer.from(key).toString('hex')}`)}\n`);
  const list = { mode: 'list-keys', filter: `name=${name}` };
  await showStep('The key is in the list', 'Keys are found by their names.', list);
  await show(
    'The job ends',
    'The post step of create-key runs, and revokes the key. It takes until the key is 10 s old: a younger key could be rejected and yet be valid.',
    () => startPost(made).done,
  );
  return name;
}

/** Sweeps as a schedule would. Two runs were shut down with their runner, and a third still runs. */
async function sweep(name: string): Promise<void> {
  const token = 'token-of-the-demo';
  const github = await startGitHub({ token, repository: 'acme/shop', repositoryId: 123456789 });
  const fingerprint = parseKeyName(name)?.run.fingerprint ?? '';
  for (const id of ['9876543001', '9876543002', '9876543003']) {
    const made = makeKeyName('shop', { run: { id, attempt: 1, fingerprint }, isKept: false }, Math.random);
    service.plane.addKeyOfAge(made, 2 * 86_400_000);
  }
  github.addRun({ id: '9876543001', status: 'completed' });
  for (const id of ['9876543003', '9876543210']) github.addRun({ id });
  const about = 'Three runs left keys: one run is completed, one is gone, and one goes on, so its key stays.';
  await showStep('A sweep', about, { mode: 'sweep-keys' }, { token, env: { GITHUB_API_URL: github.url } });
  await github.close();
}

async function fanOut(): Promise<void> {
  for (let left = 5; left > 0; left--) service.plane.addProject();
  const inputs = { mode: 'list-projects', 'max-batches': '3' };
  const step = await showStep('Projects for a matrix', 'Six projects become three jobs.', inputs);
  const batches: string[][] = JSON.parse(step.outputs['batches'] ?? '[]');
  for (const [index, ids] of batches.entries()) console.log(`  Job ${index + 1}: ${ids.join(' ')}`);
  console.log();
}

console.log(`Ten steps of the action run against a control plane on this machine, as on a GitHub runner: they wait for operations, list
projects, and create, list, revoke and sweep API keys. This takes about twenty seconds. Four steps fail on purpose. Each step
also gets the inputs api-key and base-url.
`);
try {
  const actions = ['create_branch', 'start_compute', 'apply_config'];
  const three = actions.map((action, n) => ({ action, lengthMs: 1_000 + 500 * n }));
  await gate('A gate that opens', 'A change of a project started three operations. All finish.', three);
  await gate(`A gate that stays shut ${onPurpose}`, 'One of two operations fails.', [
    { action: 'create_branch', lengthMs: 800 },
    { action: 'start_compute', lengthMs: 1_300, outcome: 'failed' },
  ]);
  const slow = [{ action: 'apply_storage_config', lengthMs: 60_000 }];
  await gate(`A timeout ${onPurpose}`, 'An operation takes longer than the step may.', slow, { timeout: '1s' });
  const empty = { mode: 'wait-operation', 'project-id': projectId, 'operation-id': '' };
  await showStep(`An empty input ${onPurpose}`, 'A mistyped expression opens no gate.', empty);
  const failed = { filter: 'status=failed', since: '1m', 'fail-on': 'match' };
  const inputs = { mode: 'list-operations', 'project-id': projectId, ...failed };
  await showStep(`A check for failed operations ${onPurpose}`, 'It finds the one that failed above.', inputs);
  await fanOut();
  await sweep(await lifeOfAKey());
} finally {
  await service.close();
  job.dispose();
}
console.log(`That was all. Next:
  - README.md shows how to set the action up in your repository.
  - docs/control-plane.md shows how to test your own workflow against this control plane.
  - The job summaries are in ${folder}: open them in a browser.`);
