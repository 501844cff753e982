import type { Secrets } from './secrets.js';
import type { Environment, Toolkit } from './toolkit.js';

/** An array becomes JSON. */
export type Outputs = Readonly<Record<string, string | number | readonly unknown[]>>;

export interface StepReport {
  readonly status: string;
  /** True only if the result was confirmed. If false, the step fails. */
  readonly succeeded: boolean;
  /** A few words for the summary and the log, without a full stop. */
  readonly headline: string;
  readonly error?: string | undefined;
  readonly notice?: string | undefined;
  readonly warnings?: readonly string[];
  readonly outputs?: Outputs;
  /** Outputs that pass a secret to later steps on purpose. All others are redacted. */
  readonly secretOutputs?: Readonly<Record<string, string>>;
  /** What the result file has besides the outputs. Undefined if there is no result file. */
  readonly resultFields?: Readonly<Record<string, unknown>>;
  /** The response to the user's own request, as it came. */
  readonly response?: string | undefined;
  /** Markdown below the headline. */
  readonly details?: string;
}

export interface PublishContext {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Environment;
  readonly mode: string;
  readonly wantsSummary: boolean;
}
