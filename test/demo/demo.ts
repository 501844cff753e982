/** `npm run demo`: the bundle at work against the embedded control plane, as a runner would run it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeKeyName, parseKeyName } from '../../src/keys/key-name.js';
import { startControlPlane } from '../control-plane/index.js';
import { startGitHub } from '../github/index.js';
import { presentStep, wantsColours } from '../runner/present.js';
import { runPost, runStep, type StepResult } from '../runner/step.js';
import { summaryPage } from '../runner/summary-page.js';

const folder = resolve('build/demo');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const service = await startControlPlane({ projects: 1, operations: 8 });
const projectId = service.projectIds[0] ?? '';
const access = { 'api-key': service.apiKey, 'base-url': service.baseUrl };

/** What a change of the project sets off: an answer of the API as `curl -o` would leave it. */
function change(...operations: Parameters<typeof service.plane.startOperation>[0][]): string {
  const file = join(folder, 'answer.json');
  const started = operations.map((operation) => service.plane.startOperation({ projectId, ...operation }));
  writeFileSync(file, JSON.stringify({ operations: started.map(({ id }) => ({ id, project_id: projectId })) }));
  return file;
}

function show(title: string, step: StepResult): void {
  const page = join(folder, `${title.replaceAll(/\W+/g, '-').toLowerCase()}.html`);
  writeFileSync(page, summaryPage(step.summary, title));
  const given = Object.entries(step.options.inputs ?? {}).map(
    ([name, value]) => `    ${name}: ${step.job.masker.mask(String(value))}`,
  );
  const preface = ['  Run org/ctl-action@v1 with', ...given];
  console.log(presentStep(step, { title, colours: wantsColours(process.stdout), preface }));
  console.log(`  Job summary: ${pathToFileURL(page)}\n`);
}

async function gate(title: string, own: Record<string, string>): Promise<void> {
  const step = await runStep({ inputs: { mode: 'wait-operation', ...access, 'project-id': projectId, ...own } });
  show(title, step);
  step.dispose();
}

async function lifeOfAKey(): Promise<string> {
  const made = await runStep({ inputs: { mode: 'create-key', ...access, 'export-env': 'DB_API_KEY' } });
  show('A key for this job', made);
  const { key = '', 'key-name': name = '' } = made.outputs;
  console.log('━━ A later step prints it by mistake: the runner shows');
  console.log(`  ${made.job.masker.mask(`DB_API_KEY=${key}, in hex ${Buffer.from(key).toString('hex')}`)}\n`);
  const listed = await runStep({ job: made.job, inputs: { mode: 'list-keys', ...access, filter: `name=${name}` } });
  show('The key is there', listed);
  show('The job ends: the post step', await runPost(made));
  console.log(`  Keys of that name that are alive now: ${service.plane.aliveKeys(name).length}\n`);
  made.dispose();
  return name;
}

/** As on a schedule, after two runs were shut down with their runner, and while a third goes on. */
async function sweep(name: string): Promise<void> {
  const github = await startGitHub({ token: 'token-of-the-demo', repository: 'acme/shop', repositoryId: 123456789 });
  const fingerprint = parseKeyName(name)?.run.fingerprint ?? '';
  const states = { '9876543001': 'completed', '9876543002': 'gone', '9876543003': 'in_progress' };
  for (const [id, status] of Object.entries(states)) {
    const made = makeKeyName('shop', { run: { id, attempt: 1, fingerprint }, isKept: false }, Math.random);
    service.plane.addKeyOfAge(made, 7_200_000);
    if (status !== 'gone') github.addRun({ id, status });
  }
  github.addRun({ id: '9876543210' });
  const step = await runStep({
    inputs: { mode: 'sweep-keys', ...access },
    token: 'token-of-the-demo',
    env: { GITHUB_API_URL: github.url },
  });
  show('A sweep', step);
  step.dispose();
  await github.close();
}

/** A list, and the jobs that a matrix makes of it. */
async function fanOut(): Promise<void> {
  for (let left = 5; left > 0; left--) service.plane.addProject();
  const step = await runStep({ inputs: { mode: 'list-projects', ...access, filter: 'id!=none' } });
  show('Projects for a matrix', step);
  console.log('━━ The jobs of a matrix of its batches');
  const batches: string[][] = JSON.parse(step.outputs['batches'] ?? '[]');
  for (const [index, ids] of batches.entries()) console.log(`  job ${index + 1}: ${ids.join(' ')}`);
  console.log();
  step.dispose();
  const check = await runStep({
    inputs: {
      mode: 'list-operations',
      ...access,
      'project-id': projectId,
      filter: 'status=failed',
      'fail-on': 'match',
    },
  });
  show('A check for failed operations', check);
  check.dispose();
}

try {
  await gate('A gate that opens', {
    'response-file': change(
      { action: 'create_branch', lengthMs: 1_500 },
      { action: 'start_compute', lengthMs: 2_500 },
      { action: 'apply_config', lengthMs: 3_000 },
    ),
  });
  await gate('A gate that stays shut', {
    'response-file': change(
      { action: 'create_branch', lengthMs: 800 },
      { action: 'start_compute', lengthMs: 1_600, outcome: 'failed' },
    ),
  });
  await gate('A deadline', {
    'response-file': change({ action: 'apply_storage_config', lengthMs: 60_000 }),
    timeout: '2s',
  });
  await gate('An input that is empty by mistake', { 'operation-id': '' });
  await fanOut();
  await sweep(await lifeOfAKey());
} finally {
  await service.close();
}
