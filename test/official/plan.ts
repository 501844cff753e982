/** A job, in the words of a workflow. Texts of `with`, `env`, `run` and `outputs` may hold `${{ }}`. */
export interface JobPlan {
  readonly steps: readonly StepPlan[];
  readonly env?: Readonly<Record<string, string>>;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly vars?: Readonly<Record<string, string>>;
  /** What the workspace holds before the job, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Step debug logging. */
  readonly debug?: boolean;
  /** Where GitHub's API is; nowhere when not given. */
  readonly apiUrl?: string;
  /** Fields of the `github` context that are not those of every job. */
  readonly github?: Readonly<Record<string, string>>;
  /** Variables that the runner itself was started with: it hands them on to every step. */
  readonly runnerEnv?: Readonly<Record<string, string>>;
  /** Features that the server turns on, such as `actions.runner.usenode24bydefault`. */
  readonly flags?: readonly string[];
}

export type StepPlan = WorkStep | ControlStep;

/** A step that runs a script of bash, or an action. */
export type WorkStep = StepOptions & (ScriptRun | ActionUse);

interface ScriptRun {
  readonly run: string;
  /** `bash` when not given; the runner's default where it is empty. */
  readonly shell?: string;
}

export interface ActionUse {
  /** The action, or one of the workspace. */
  readonly uses: 'org/ctl-action@v1' | 'org/ctl-action/node24@v1' | `./${string}`;
  readonly with?: Readonly<Record<string, string>>;
}

interface StepOptions {
  readonly id: string;
  /** As users see it; the id when not given. */
  readonly name?: string;
  /** The default is `success()`. A given condition is used unchanged. GitHub would put `success() &&` before it. */
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'continue-on-error'?: boolean | string | undefined;
  readonly 'timeout-minutes'?: number | string | undefined;
  readonly background?: boolean;
}

/** What is done with the background steps of these ids, or with all. */
export type ControlStep =
  | { readonly wait: readonly string[] }
  | { readonly cancel: readonly string[] }
  | { readonly 'wait-all': true };

/** As GitHub compiles `parallel`. */
export function parallel(...steps: readonly WorkStep[]): readonly StepPlan[] {
  return [...steps.map((step) => ({ ...step, background: true })), { wait: steps.map(({ id }) => id) }];
}
