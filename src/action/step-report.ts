/** The result of a step, ready to be published. */
export interface StepReport {
  readonly status: string;
  /** Only code that has confirmed the result sets this to true. The step succeeds only if it is true. */
  readonly succeeded: boolean;
  /** A few words, without a full stop. */
  readonly headline: string;
  readonly error?: string | undefined;
  readonly notice?: string | undefined;
  readonly warnings?: readonly string[];
  readonly outputs?: readonly Output[];
  /** An environment variable for the later steps of the job. Its value may be a secret. */
  readonly variable?: { readonly name: string; readonly value: string } | undefined;
  /**
   * The whole result as JSON, in pieces, because one string can take too much memory. The type is not
   * `Iterable<string>`, because a plain string has that type. It iterates by character, and redaction finds no secret in
   * a single character.
   */
  readonly result?: Pieces;
  /** Markdown below the headline. */
  readonly details?: string;
}

export type Pieces = readonly string[] | Generator<string>;

export interface Output {
  readonly name: string;
  /** JSON, or text without `##[`. `undefined` if it is too large for any output. */
  readonly value: string | undefined;
  /** If the outputs are too large together, those with a rank are left empty, the lowest rank first. */
  readonly rank?: number;
  /** An array of records must fit into one environment value. */
  readonly holdsRecords?: boolean;
  /** This output passes a secret to later steps on purpose. All other outputs are redacted. */
  readonly isSecret?: boolean;
}
