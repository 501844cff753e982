import type { Environment } from './inputs/input-reader.js';
import type { Secrets } from './secrets.js';
import type { Toolkit } from './toolkit.js';

export interface StepReport {
  readonly status: string;
  /** True only if the result was confirmed. If false, the step fails. */
  readonly succeeded: boolean;
  /** A few words for the summary and the log, without a full stop. */
  readonly headline: string;
  readonly error?: string | undefined;
  /** The summary shows this text in place of `error`, if headline and table already show the rest of `error`. */
  readonly errorAboveTable?: string | undefined;
  readonly notice?: string | undefined;
  readonly warnings?: readonly string[];
  readonly outputs?: readonly Output[];
  /** The whole result as JSON. It comes in pieces, because one string can take too much memory. */
  readonly result?: Pieces;
  /** The response to the user's own request, as it came. */
  readonly response?: string;
  /** Markdown below the headline. */
  readonly details?: string;
}

/** A string is not allowed. Iteration would split it into single characters, and redaction finds no secret in them. */
export type Pieces = readonly string[] | Generator<string>;

export interface Output {
  readonly name: string;
  /** JSON, or text without `##[`. Undefined if the value is too large for any output. */
  readonly value: string | undefined;
  /** If the outputs are too large in total, those with a rank are emptied, lowest rank first, until the rest fits. */
  readonly rank?: number;
  /** True for an array of records, which must fit into one environment variable. */
  readonly holdsRecords?: boolean;
  /** True if the output passes a secret to later steps on purpose. All other outputs are redacted. */
  readonly isSecret?: boolean;
}

export interface PublishContext {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Environment;
  readonly mode: string;
  readonly wantsSummary: boolean;
}
