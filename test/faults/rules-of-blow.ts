import type { Endpoint, Fault, FaultRule } from '../control-plane/index.js';
import type { Blow, Place, When } from './cell.js';

/** As the fixture that sends it takes it, and tells of it. */
export function innerSignal({ signal, step }: Extract<Blow, { kind: 'inner-signal' }>): string {
  return `${signal} ${step}`;
}

/** Whether nothing works from there on, in post neither. */
export function isOnAll(blow: Blow): boolean {
  return blow.kind === 'fault' && blow.often === 'all from then on';
}

/** What the control plane is told to do about it. */
export function rulesOf(place: Place, endpoint: Endpoint, blow: Exclude<Blow, { kind: 'github-fault' }>): FaultRule[] {
  if (blow.kind === 'inner-signal') return [];
  if (blow.kind === 'signal') {
    const fault = whileUnderWay(blow.when, place.stage === 'post' && blow.signal !== 'SIGKILL');
    return fault === undefined ? [] : [{ endpoint, nth: place.nth, fault }];
  }
  switch (blow.often) {
    case 'once':
      return [{ endpoint, nth: place.nth, fault: blow.fault }];
    case 'from then on':
      return [{ endpoint, from: place.nth, fault: blow.fault }];
    case 'all from then on':
      return [{ endpoint: 'any', from: place.at, fault: blow.fault }];
  }
}

/** What keeps a request under way until the signal has come. `goesOn`: the process is to go on with it after that. */
function whileUnderWay(when: When, goesOn: boolean): Fault | undefined {
  if (when === 'answered') return undefined;
  if (goesOn) return { kind: 'delay', ms: 300 };
  const done =
    when === 'under way, not carried out'
      ? 'never'
      : when === 'under way, carried out later'
        ? { msAfterGivenUp: 300 }
        : 'now';
  return { kind: 'hang-before-headers', done };
}
