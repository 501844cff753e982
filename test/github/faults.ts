import type { DamagingFault, LostFault } from '../control-plane/faults.js';

/** In place of the API's answer. */
export type ReplacingFault =
  /** The token lacks `actions: read`. */
  | { readonly kind: 'no-permission' }
  | { readonly kind: 'rate-limit'; readonly status?: 403 | 429; readonly resetInSeconds?: number }
  | { readonly kind: 'secondary-rate-limit'; readonly status?: 403 | 429; readonly retryAfterSeconds?: number }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An error body of the API when not given. */
      readonly body?: string;
    }
  | { readonly kind: 'html'; readonly status?: number; readonly body?: string }
  /**
   * To the same thing by the repository's id, when no location is given, as from the old name of a renamed repository. A rule
   * with the path `/repos/` does not strike the request that follows.
   */
  | { readonly kind: 'redirect'; readonly status?: number; readonly location?: string };

export type Fault = ReplacingFault | LostFault | DamagingFault;
