/** `npm run demo`: the bundle at work against the embedded control plane, as a runner would run it. */
import { startControlPlane } from '../../control-plane/index.js';
import { Job } from '../runner/job.js';
import { type StepResult, startPost, startStep } from '../runner/step.js';
import { headline, presentStep } from './present.js';

const job = new Job();
const lengthMs = 1_500;
const service = await startControlPlane({ projects: 3, newOperations: { lengthMs } });
const [projectId = ''] = service.projectIds;

/** Prints what is to be seen before the step runs, and the step when it has ended. */
async function show(title: string, about: string, run: () => Promise<StepResult>): Promise<StepResult> {
  console.log(`${headline(title)}\n  ${about}\n`);
  const step = await run();
  const withoutFolder = (text: string) => text.replaceAll(job.temp, '$RUNNER_TEMP');
  const outputs = Object.fromEntries(Object.entries(step.outputs).map(([name, text]) => [name, withoutFolder(text)]));
  console.log(presentStep({ ...step, outputs, log: withoutFolder(step.log) }));
  return step;
}

function showStep(title: string, about: string, inputs: Readonly<Record<string, string>>, key = service.apiKey) {
  const given = Object.entries(inputs).map(([name, value]) => `\n    ${name}: ${value}`);
  const env = { CTL_API_KEY: key, CTL_BASE_URL: service.baseUrl };
  const run = () => startStep({ inputs, env, job }).done;
  return show(title, `${about}\n\n  Run org/ctl-action@v1 with${given.join('')}`, run);
}

console.log(`A job with five steps of the action runs against a control plane on this machine, as on a GitHub runner. It takes 15 seconds.
Two steps fail, as they should.
`);
try {
  const made = await showStep('A key for this job', 'A new API key for the next steps.', { mode: 'create-key' });
  const { key = '' } = made.outputs;
  console.log(`${headline('A step prints the key by mistake')}\n  The runner shows:\n\n  ${job.masker.mask(key)}\n`);

  const change = { mode: 'send-request', request: `POST /projects/${projectId}/branches`, body: '{}' };
  await showStep('A change', 'It starts two operations. Both finish.', change, key);
  service.plane.planNext({ action: 'start_compute', lengthMs, outcome: 'failed' });
  const failing = 'One of its operations fails, so the step fails, and nothing is deployed.';
  await showStep('A change that fails', failing, change, key);
  await showStep('Projects for a matrix', 'Two jobs.', { mode: 'list-projects', 'max-batches': '2' }, key);

  const end = 'The post step of create-key revokes the key, and proves its end: a key of 10 s or more gets status 401.';
  await show('The job ends', end, () => startPost(made).done);
  await showStep('A thief tries the key', 'It is dead, so the step fails.', { mode: 'list-keys', timeout: '2s' }, key);
} finally {
  await service.close();
  job.dispose();
}
console.log(`That was all. Next:
  - README.md shows how to set the action up in your repository.
  - docs/control-plane.md shows how to test your own workflow against this control plane.`);
