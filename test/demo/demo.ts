/** `npm run demo`: the bundle at work against the embedded control plane, as a runner would run it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startControlPlane } from '../control-plane/index.js';
import { presentStep, wantsColours } from '../runner/present.js';
import { runStep } from '../runner/step.js';
import { summaryPage } from '../runner/summary-page.js';

const folder = resolve('build/demo');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const service = await startControlPlane({ projects: 1, operations: 8 });
const projectId = service.projectIds[0] ?? '';

/** What a change of the project sets off: an answer of the API as `curl -o` would leave it. */
function change(...operations: Parameters<typeof service.plane.startOperation>[0][]): string {
  const file = join(folder, 'answer.json');
  const started = operations.map((operation) => service.plane.startOperation({ projectId, ...operation }));
  writeFileSync(file, JSON.stringify({ operations: started.map(({ id }) => ({ id, project_id: projectId })) }));
  return file;
}

async function show(title: string, own: Record<string, string>): Promise<void> {
  const inputs = {
    mode: 'wait-operation',
    'api-key': service.apiKey,
    'base-url': service.baseUrl,
    'project-id': projectId,
    ...own,
  };
  const step = await runStep({ inputs });
  const page = join(folder, `${title.replaceAll(/\W+/g, '-').toLowerCase()}.html`);
  writeFileSync(page, summaryPage(step.summary, title));
  const given = Object.entries(inputs).map(([name, value]) => `    ${name}: ${step.job.masker.mask(value)}`);
  console.log(
    presentStep(step, {
      title,
      colours: wantsColours(process.stdout),
      preface: ['  Run org/ctl-action@v1 with', ...given],
    }),
  );
  console.log(`  Job summary: ${pathToFileURL(page)}\n`);
  step.dispose();
}

try {
  await show('A gate that opens', {
    'response-file': change(
      { action: 'create_branch', lengthMs: 1_500 },
      { action: 'start_compute', lengthMs: 2_500 },
      { action: 'apply_config', lengthMs: 3_000 },
    ),
  });
  await show('A gate that stays shut', {
    'response-file': change(
      { action: 'create_branch', lengthMs: 800 },
      { action: 'start_compute', lengthMs: 1_600, outcome: 'failed' },
    ),
  });
  await show('A deadline', {
    'response-file': change({ action: 'apply_storage_config', lengthMs: 60_000 }),
    timeout: '2s',
  });
  await show('An input that is empty by mistake', { 'operation-id': '' });
} finally {
  await service.close();
}
