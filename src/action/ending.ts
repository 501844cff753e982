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
  /** The whole result as JSON. */
  readonly result?: string;
  /** Markdown below the headline. */
  readonly details?: string;
}

export interface Output {
  readonly name: string;
  readonly value: string;
  /** Large ones are left empty where they do not fit, those of the lowest rank first. */
  readonly rank?: number;
  /** Records fit one environment value. */
  readonly holdsRecords?: boolean;
  /** It is there to hand on a secret, which everywhere else is taken out. */
  readonly isSecret?: boolean;
}
