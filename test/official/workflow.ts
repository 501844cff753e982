import { parse } from 'yaml';
import type { ActionUse, JobPlan, StepPlan, WorkStep } from './plan.js';

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
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Values;
}

type StepWithId = Step & { readonly id: string };

/** Any other keyword is refused, so that none is left out unnoticed. */
const keywords = {
  workflow: ['name', 'on', 'permissions', 'concurrency', 'jobs'],
  // These decide where and when the service has a job run. Once it runs, they say nothing more.
  job: ['env', 'outputs', 'steps', 'name', 'runs-on', 'timeout-minutes', 'permissions'],
  step: ['id', 'name', 'if', 'env', 'run', 'uses', 'with'],
};

/** Keywords that need the service itself: other jobs, several of this one, or a decision whether to run it. */
const keywordsOfService = ['needs', 'strategy', 'if'];

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
  return steps.map((step) => workStep({ ...step, id: step.id ?? `__${++withoutId}` }));
}

function workStep(step: StepWithId): WorkStep {
  refuseOthers(step, keywords.step);
  const options = {
    id: step.id,
    name: step.name ?? nameOf(step),
    if: conditionOf(step.if),
    env: textsOf(step.env),
  };
  if (step.run !== undefined) return { ...options, run: step.run, shell: '' };
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
