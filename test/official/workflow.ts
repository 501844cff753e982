import { parse } from 'yaml';
import { type ActionUse, type ControlStep, type JobPlan, parallel, type StepPlan, type WorkStep } from './plan.js';

type Scalar = string | number | boolean | null;
type Values = Readonly<Record<string, Scalar>>;

interface Workflow {
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly env?: Values;
  readonly outputs?: Values;
  readonly steps: readonly Step[];
}

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: Scalar;
  readonly env?: Values;
  readonly 'continue-on-error'?: boolean | string;
  readonly 'timeout-minutes'?: number | string;
  readonly background?: boolean;
  readonly run?: string;
  readonly shell?: string;
  readonly uses?: string;
  readonly with?: Values;
  readonly wait?: string | readonly string[];
  readonly 'wait-all'?: true | null;
  readonly cancel?: string;
  readonly parallel?: readonly Step[];
}

type StepWithId = Step & { readonly id: string };

/** Any other keyword is refused, so that none is left out unnoticed. */
const keywords = {
  workflow: ['name', 'on', 'permissions', 'concurrency', 'jobs'],
  // These decide where and when the service has a job run. Once it runs, they say nothing more.
  job: ['env', 'outputs', 'steps', ...['name', 'runs-on', 'timeout-minutes', 'permissions', 'concurrency']],
  work: [
    ...['id', 'name', 'if', 'env', 'continue-on-error', 'timeout-minutes', 'background'],
    ...['run', 'shell', 'uses', 'with'],
  ],
  control: ['id', 'name', 'wait', 'wait-all', 'cancel'],
  group: ['parallel'],
};

/** Keywords that need the service itself: other jobs, several of this one, or a decision whether to run it. */
const keywordsOfService = ['needs', 'strategy', 'uses', 'if'];

/** Where the files of the repository lie for the stand-in of actions/checkout, seen from the workspace. */
export const repositoryFolder = '../repository';

/** A job of a workflow, its expressions as they stand. */
export function jobOf(workflow: string, jobId: string): Pick<JobPlan, 'env' | 'outputs' | 'steps'> {
  const whole = read(workflow);
  const job = whole.jobs[jobId];
  if (job === undefined) throw new Error(`There is no job ${jobId}.`);
  refuseOthers(whole, keywords.workflow);
  refuseOthers(job, keywords.job);
  return { env: textsOf(job.env), outputs: textsOf(job.outputs), steps: stepsOf(job.steps) };
}

/** The jobs that a worker can run alone: no service has to start them one by one. */
export function jobsAlone(workflow: string): string[] {
  return Object.entries(read(workflow).jobs)
    .filter(([, job]) => !keywordsOfService.some((keyword) => keyword in job))
    .map(([jobId]) => jobId);
}

/** Whether it has a job that cannot. */
export function needsService(workflow: string): boolean {
  return jobsAlone(workflow).length < Object.keys(read(workflow).jobs).length;
}

function read(workflow: string): Workflow {
  return parse(workflow) as Workflow;
}

function stepsOf(steps: readonly Step[]): StepPlan[] {
  let withoutId = 0;
  const withId = (step: Step): StepWithId => ({ ...step, id: step.id ?? `__${++withoutId}` });
  return steps.flatMap((step): StepPlan[] => {
    if (step.parallel === undefined) return [controlStep(step) ?? workStep(withId(step))];
    refuseOthers(step, keywords.group);
    return [...parallel(...step.parallel.map((member) => workStep(withId(member))))];
  });
}

function controlStep(step: Step): ControlStep | undefined {
  const { wait, cancel } = step;
  if (wait === undefined && cancel === undefined && !('wait-all' in step)) return undefined;
  refuseOthers(step, keywords.control);
  if (wait !== undefined) return { wait: [wait].flat() };
  return cancel === undefined ? { 'wait-all': true } : { cancel: [cancel] };
}

function workStep(step: StepWithId): WorkStep {
  refuseOthers(step, keywords.work);
  const options = {
    id: step.id,
    name: step.name ?? nameOf(step),
    if: conditionOf(step.if),
    env: textsOf(step.env),
    background: step.background ?? false,
    'continue-on-error': step['continue-on-error'],
    'timeout-minutes': step['timeout-minutes'],
  };
  if (step.run !== undefined) return { ...options, run: step.run, shell: step.shell ?? '' };
  const { uses = '' } = step;
  if (isKnown(uses)) return { ...options, uses, with: textsOf(step.with) };
  if (uses.startsWith('actions/checkout@')) return { ...options, run: `cp -r ${repositoryFolder}/. .`, shell: '' };
  throw new Error(`There is no stand-in for the action ${uses}.`);
}

function isKnown(uses: string): uses is ActionUse['uses'] {
  return /^(?:org\/ctl-action(?:\/node24)?@v1$|\.\/)/.test(uses);
}

/** For a step without a name: several steps of this action differ in their mode. */
function nameOf({ id, run, uses, with: { mode } = {} }: StepWithId): string {
  if (!id.startsWith('__')) return id;
  return String(mode ?? `Run ${run?.trim().split('\n')[0] ?? uses}`);
}

/** As the service compiles it: a condition that does not ask how the job stands holds only where it stands well. */
function conditionOf(condition: Scalar = 'success()'): string {
  const expression = String(condition)
    .replace(/^\$\{\{(.*)\}\}$/s, '$1')
    .trim();
  const asks = /\b(?:success|failure|cancelled|always)\s*\(/i.test(expression);
  return asks ? expression : `success() && (${expression})`;
}

function textsOf(values: Values = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value ?? '')]));
}

function refuseOthers(part: object, known: readonly string[]): void {
  const others = Object.keys(part).filter((keyword) => !known.includes(keyword));
  if (others.length > 0) throw new Error(`These keywords are not converted: ${others.join(', ')}.`);
}
