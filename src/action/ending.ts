/** How a step ended, ready to be told. */
export interface Ending {
  readonly status: string;
  /** Set by the code that saw the proof; nothing else makes a step green. */
  readonly succeeded: boolean;
  /** A few words. */
  readonly headline: string;
  readonly error?: string | undefined;
  readonly notice?: string | undefined;
  readonly warnings?: readonly string[];
  readonly outputs?: readonly Output[];
  /** An environment variable for the later steps of the job. Its value may be a secret. */
  readonly variable?: { readonly name: string; readonly value: string } | undefined;
  /** Called when the outputs are out. */
  readonly whenHandedOn?: () => void;
  /**
   * The whole result as JSON, in pieces, as in one it can be too large to be handled well. Not any iterable: a text is one,
   * of single characters, in which no secret would be found.
   */
  readonly result?: Pieces;
  /** Markdown below the headline. */
  readonly details?: string;
}

export type Pieces = readonly string[] | Generator<string>;

export interface Output {
  readonly name: string;
  /** JSON, or text without `##[`; none where it is too large for any output. */
  readonly value: string | undefined;
  /** Large ones are left empty where they do not fit, those of the lowest rank first. */
  readonly rank?: number;
  /** Records fit one environment value. */
  readonly holdsRecords?: boolean;
  /** It is there to hand on a secret, which everywhere else is taken out. */
  readonly isSecret?: boolean;
}
