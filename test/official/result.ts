import type { Annotation, Conclusion, Reports } from './services.js';

/** What a user sees of a job that has ended. */
export interface JobResult {
  /** None where the runner was shut down before the job could tell. */
  readonly conclusion: Conclusion | undefined;
  /** By the id of the plan; those of the runner by their names: `Post mint`, `Complete job`. */
  readonly steps: Readonly<Record<string, StepResult>>;
  readonly outputs: Readonly<Record<string, string>>;
  /** Of all steps, masked, without times. */
  readonly log: string;
  /** All that the worker sent away, word for word. */
  readonly sent: string;
}

export interface StepResult {
  readonly conclusion: Conclusion;
  readonly log: string;
  readonly summary: string;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly notices: readonly string[];
  readonly annotations: readonly Annotation[];
  readonly ms: number;
}

export function resultOf({ logs, summaries, completion, received }: Reports): JobResult {
  const steps = (completion?.stepResults ?? []).map((step): [string, StepResult] => {
    const messages = (level: Annotation['level']) =>
      step.annotations.filter((annotation) => annotation.level === level).map(({ message }) => message);
    return [
      step.name,
      {
        conclusion: step.conclusion,
        log: plainLog(logs[step.external_id]),
        summary: summaries[step.external_id] ?? '',
        errors: messages('failure'),
        warnings: messages('warning'),
        notices: messages('notice'),
        annotations: step.annotations,
        ms: Date.parse(step.completed_at) - Date.parse(step.started_at),
      },
    ];
  });
  const outputs = Object.entries(completion?.outputs ?? {}).map(([name, { value }]) => [name, value]);
  return {
    conclusion: completion?.conclusion,
    steps: Object.fromEntries(steps),
    outputs: Object.fromEntries(outputs),
    log: plainLog(logs['job']),
    sent: received.join('\n'),
  };
}

/** Each line begins with a time, the first with a BOM before it. */
function plainLog(log = ''): string {
  return log.replace(/^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z ?/gm, '');
}
