import type { Fault } from '../control-plane/index.js';
import type { Fault as GitHubFault } from '../github/index.js';
import type { Account, Ran } from './account.js';
import { type Blow, type Cell, type Often, type Place, signals, type When } from './cell.js';
import { everyFault, everyFaultOfLists, typicalFaults, typicalFaultsOfLists } from './every-fault.js';
import { isRefusal } from './fault-sorts.js';
import { unusable } from './unusable.js';

const gitHubFaults: Readonly<Record<string, GitHubFault>> = {
  'no permission': { kind: 'no-permission' },
  'rate limit': { kind: 'rate-limit' },
  'secondary rate limit': { kind: 'secondary-rate-limit' },
  '401': { kind: 'status', status: 401 },
  '500': { kind: 'status', status: 500 },
  '503': { kind: 'status', status: 503 },
  HTML: { kind: 'html' },
  redirect: { kind: 'redirect' },
  'bad JSON': { kind: 'bad-json' },
  'empty body': { kind: 'empty-body' },
  delay: { kind: 'delay', ms: 3_000 },
  hang: { kind: 'hang-before-headers' },
  closed: { kind: 'cut-before-headers' },
  'cut mid-body': { kind: 'cut-mid-body' },
};

/** One of each way in which they are met. */
const lastingOfGitHub = ['no permission', 'secondary rate limit', '500', 'hang', 'bad JSON'];

/** The exchanges of a clean run; those that the situation itself needs are left as they are. */
export function placesOf({ subject, main, post, askedOfGitHub }: Account): Place[] {
  const ofGitHub = askedOfGitHub.map(
    (_, index): Place => ({ stage: 'main', endpoint: 'github', nth: index + 1, at: 0 }),
  );
  const all = [...placesIn('main', main), ...(post === undefined ? [] : placesIn('post', post)), ...ofGitHub];
  return all.filter((place) => subject.isPlace?.(place) ?? true);
}

function placesIn(stage: Place['stage'], { exchanges }: Ran): Place[] {
  const counts = new Map<string, number>();
  return exchanges.flatMap(({ endpoint, fault }, index) => {
    if (endpoint === 'other') throw new Error('The clean run asks for what is no endpoint.');
    const nth = (counts.get(endpoint) ?? 0) + 1;
    counts.set(endpoint, nth);
    return fault === undefined ? [{ stage, endpoint, nth, at: index + 1 }] : [];
  });
}

/** A list that takes its time is no reason for an alarm. */
const slow: Readonly<Record<string, Fault>> = {
  '2 s each time': { kind: 'delay', ms: 2_000 },
  '4 s each time': { kind: 'delay', ms: 4_000 },
};

/** All that can go wrong at each exchange of the clean run. */
export function cellsOf(clean: Account): Cell[] {
  const places = placesOf(clean);
  return places.flatMap((place) => blowsAt(place, places, clean).map((blow) => ({ place, blow })));
}

function blowsAt(place: Place, places: readonly Place[], { main, subject }: Account): Blow[] {
  if (place.endpoint === 'github') {
    const lasting = Object.entries(gitHubFaults).filter(([name]) => lastingOfGitHub.includes(name));
    return [
      ...ofGitHub('once', Object.entries(gitHubFaults)),
      ...ofGitHub('from then on', lasting),
      ...signalsAt(['under way']),
    ];
  }
  const isChange = place.endpoint === 'create-key' || place.endpoint === 'revoke-key';
  const [faults, typical] = isChange ? [everyFault, typicalFaults] : [everyFaultOfLists, typicalFaultsOfLists];
  const own = place.endpoint === 'create-key' && subject.inMain === undefined ? unusable : {};
  const isMixed = new Set((place.stage === 'main' ? main.exchanges : []).map(({ endpoint }) => endpoint)).size > 1;
  const isFirst = places.find(({ stage }) => stage === place.stage) === place;
  // It is another thing than one that lasts only where other exchanges follow.
  const all: Often[] = isMixed || (isFirst && subject.hasPost) ? ['all from then on'] : [];
  const lasting = place.stage === 'post' ? { ...typical, ...(isChange ? {} : slow) } : without(typical, isRefusal);
  return [
    ...named('once', { ...faults, ...own }),
    ...named('from then on', lasting),
    ...all.flatMap((often) => named(often, typical)),
    ...signalsAt(whensAt(place, isChange)),
    ...(place.endpoint === 'create-key' && subject.inMain === undefined ? innerSignals() : []),
  ];
}

function ofGitHub(often: Often, faults: readonly [string, GitHubFault][]): Blow[] {
  return faults.map(([name, fault]): Blow => ({ kind: 'github-fault', often, name, fault }));
}

/** Where main can be with a key that the network does not show. */
const steps = [
  'before state 1',
  'before state 2',
  'before request 1',
  'after request 1',
  'after answer 1',
  'before state 3',
  'after state 3',
  'before output 1',
  'after output 3',
  'after output 5',
  'before env 1',
  'after env 1',
  'before summary 1',
  'after summary 1',
];

/** By one that is heard and one that is not: which of them is heard makes no difference. */
function innerSignals(): Blow[] {
  return (['SIGTERM', 'SIGKILL'] as const).flatMap((signal) =>
    steps.map((step): Blow => ({ kind: 'inner-signal', signal, step })),
  );
}

/** Who is refused does not ask again: once is always. */
function without(faults: Readonly<Record<string, Fault>>, isLeftOut: (fault: Fault) => boolean) {
  return Object.fromEntries(Object.entries(faults).filter(([, fault]) => !isLeftOut(fault)));
}

function named(often: Often, faults: Readonly<Record<string, Fault>>): Blow[] {
  return Object.entries(faults).map(([name, fault]): Blow => ({ kind: 'fault', often, name, fault }));
}

function whensAt({ endpoint, stage }: Place, isChange: boolean): When[] {
  if (!isChange || stage === 'post') return ['under way', 'answered'];
  const later: When[] = endpoint === 'create-key' ? ['under way, carried out later'] : [];
  return ['under way, carried out', 'under way, not carried out', ...later, 'answered'];
}

function signalsAt(whens: readonly When[]): Blow[] {
  return signals.flatMap((signal) => whens.map((when): Blow => ({ kind: 'signal', signal, when })));
}
