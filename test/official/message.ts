import { randomUUID } from 'node:crypto';
import type { ControlStep, JobPlan, WorkStep } from './plan.js';
import { mappingOf, tokenOf } from './token.js';

/** What the service of GitHub would send to a runner for this job: its protocol, as far as the worker asks for it. */
export function jobMessage(plan: JobPlan, url: string): unknown {
  const { steps, env = {}, outputs = {}, secrets = {}, vars = {}, debug = false, flags = [], apiUrl = '' } = plan;
  const variables = {
    'system.github.job': 'job',
    'system.github.results_endpoint': url,
    'system.github.launch_endpoint': url,
    ...Object.fromEntries(flags.map((flag) => [flag, 'true'])),
  };
  const hidden = { ...secrets, 'system.github.token': token, ...(debug ? { ACTIONS_STEP_DEBUG: 'true' } : {}) };
  return {
    messageType: 'RunnerJobRequest',
    plan: { scopeIdentifier: randomUUID(), planId: randomUUID(), planType: 'free', version: 12 },
    timeline: { id: randomUUID(), changeId: 1 },
    jobId: randomUUID(),
    jobName: 'job',
    jobDisplayName: 'job',
    requestId: 1,
    lockedUntil: '2100-01-01T00:00:00Z',
    workspace: {},
    mask: [],
    defaults: [],
    fileTable: ['.github/workflows/job.yml'],
    resources: {
      endpoints: [
        {
          name: 'SystemVssConnection',
          url,
          authorization: { scheme: 'OAuth', parameters: { AccessToken: accessToken } },
          data: {},
        },
      ],
    },
    variables: {
      ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, { value, isSecret: false }])),
      ...Object.fromEntries(Object.entries(hidden).map(([name, value]) => [name, { value, isSecret: true }])),
    },
    contextData: {
      github: contextOf({ ...github, api_url: apiUrl, ...plan.github }),
      needs: contextOf({}),
      matrix: null,
      strategy: contextOf({}),
      vars: contextOf(vars),
      inputs: contextOf({}),
    },
    environmentVariables: [mappingOf(env)],
    jobOutputs: mappingOf(outputs),
    steps: steps.map((step, index) => ('id' in step ? workStep(step) : controlStep(step, `control-${index}`))),
  };
}

/** What `${{ github.token }}` gives. */
export const token = 'ghs_theTokenOfThisJob0123456789';

/** As the context of a job has it. */
export const github = {
  repository: 'acme/shop',
  repository_owner: 'acme',
  repository_id: '1234567',
  run_id: '19512345678',
  run_number: '1',
  run_attempt: '1',
  ref: 'refs/heads/main',
  sha: '0123456789abcdef0123456789abcdef01234567',
  event_name: 'push',
  workflow: 'job',
  job: 'job',
  actor: 'somebody',
  server_url: 'https://github.com',
};

function contextOf(values: Readonly<Record<string, string>>): unknown {
  return { t: 2, d: Object.entries(values).map(([k, v]) => ({ k, v })) };
}

function workStep(step: WorkStep): unknown {
  const { id, name = id, if: condition = 'success()', env = {}, background = false } = step;
  return {
    type: 'Action',
    id: randomUUID(),
    name: id,
    contextName: id,
    displayNameToken: tokenOf(name),
    enabled: true,
    condition,
    background,
    continueOnError: scalarOf(step['continue-on-error']),
    timeoutInMinutes: scalarOf(step['timeout-minutes']),
    environment: mappingOf(env),
    ...('run' in step
      ? { reference: { type: 'Script' }, inputs: mappingOf({ script: step.run, shell: step.shell ?? 'bash' }) }
      : { reference: referenceOf(step.uses), inputs: mappingOf(step.with ?? {}) }),
  };
}

function scalarOf(value: boolean | number | string | undefined): unknown {
  return typeof value === 'string' ? tokenOf(value) : value;
}

function referenceOf(uses: string): unknown {
  if (uses.startsWith('./')) return { type: 'Repository', repositoryType: 'self', path: uses };
  const [place = '', ref] = uses.split('@');
  const [owner, repository, ...path] = place.split('/');
  return {
    type: 'Repository',
    repositoryType: 'GitHub',
    name: `${owner}/${repository}`,
    ref,
    path: path.join('/'),
  };
}

function controlStep(step: ControlStep, name: string): unknown {
  return {
    type: 'BackgroundStepControl',
    id: randomUUID(),
    name,
    contextName: name,
    enabled: true,
    condition: 'always()',
    ...targetsOf(step),
  };
}

function targetsOf(step: ControlStep): { readonly controlType: string; readonly stepIds?: readonly string[] } {
  if ('wait' in step) return { controlType: 'wait', stepIds: step.wait };
  if ('cancel' in step) return { controlType: 'cancel', stepIds: step.cancel };
  return { controlType: 'wait-all' };
}

/** A JWT of nobody: the worker reads its fields, and the services here do not ask for it. */
const accessToken = [{ alg: 'none', typ: 'JWT' }, { scp: 'Actions.Results:plan:job', exp: 4_102_444_800 }, {}]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');
