import type { Endpoint, Fault } from '../control-plane/index.js';
import type { Fault as GitHubFault } from '../github/index.js';

/** One exchange of a clean run. */
export interface Place {
  readonly stage: 'main' | 'post';
  readonly endpoint: Endpoint | 'github';
  /** Of its endpoint in its stage, from 1. */
  readonly nth: number;
  /** Of all exchanges with the control plane in its stage, from 1. */
  readonly at: number;
}

/** Which exchanges a fault strikes: that one, those like it from there on, or all from there on. */
export type Often = 'once' | 'from then on' | 'all from then on';

/** When a signal is sent: while the request is under way, or when it has been answered. */
export type When =
  | 'under way'
  | 'under way, carried out'
  | 'under way, not carried out'
  | 'under way, carried out later'
  | 'answered';

export const signals = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const;
export type Signal = (typeof signals)[number];

export type Blow =
  | { readonly kind: 'fault'; readonly often: Often; readonly name: string; readonly fault: Fault }
  | { readonly kind: 'github-fault'; readonly often: Often; readonly name: string; readonly fault: GitHubFault }
  | { readonly kind: 'signal'; readonly signal: Signal; readonly when: When }
  /** At a step that no request shows: `before state 1`. */
  | { readonly kind: 'inner-signal'; readonly signal: Signal; readonly step: string };

/** Of cells that differ in one thing alone. */
export function mannerOf(blow: Blow): string {
  return 'often' in blow ? blow.often : blow.signal;
}

export interface Cell {
  readonly place: Place;
  readonly blow: Blow;
}

export function placeName({ stage, endpoint, nth }: Place): string {
  return `${stage} ${endpoint} ${nth}`;
}

export function cellName({ place, blow }: Cell): string {
  return `${placeName(place)}: ${blowName(blow)}`;
}

function blowName(blow: Blow): string {
  switch (blow.kind) {
    case 'signal':
      return `${blow.signal}: ${blow.when}`;
    case 'inner-signal':
      return `${blow.signal}: ${blow.step}`;
    default:
      return `${blow.often}: ${blow.name}`;
  }
}
