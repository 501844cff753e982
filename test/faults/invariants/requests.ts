import type { Exchange } from '../../control-plane/index.js';
import { type Account, exchangesOf, isSound, processesOf, type Ran } from '../account.js';
import { asksForLong, isBenign, isRepeated } from '../fault-sorts.js';

const most = 60;
/** Milliseconds by which the clocks of two processes may round. */
const rounding = 3;

/** None that is forbidden, none too many, none too soon. */
export function requests(account: Account): string[] {
  return [
    ...exchangesOf(account).flatMap(({ endpoint, path }) => (endpoint === 'other' ? [`it asked for ${path}`] : [])),
    ...processesOf(account).flatMap((ran) => [
      ...(ran.exchanges.length - sentAnew(ran) > most ? [`it sent ${ran.exchanges.length} requests`] : []),
      ...blindCreates(ran),
      ...stubbornness(account, ran),
      ...impatience(account, ran),
    ]),
  ];
}

/** Of two that met a closed connection one is sent on a new one, where the first one's had been in use before. */
function sentAnew({ exchanges }: Ran): number {
  return exchanges.filter(({ fault }) => fault === 'cut-before-headers').length / 2;
}

/** Each create but the first follows a refusal, or a good look for the key of the one before. */
function blindCreates({ exchanges }: Ran): string[] {
  const creates = exchanges.filter(({ endpoint }) => endpoint === 'create-key');
  return creates.slice(1).flatMap((create, index) => {
    const last = creates[index] as Exchange;
    const wasLookedFor = exchanges.some(
      (one) => one.endpoint === 'list-keys' && isSound(one) && one.n > last.n && one.n < create.n,
    );
    return wasLookedFor || isClear(last) ? [] : [`request ${create.n} makes a key, though ${last.n} was unclear`];
  });
}

function isClear({ status = 0, fault }: Exchange): boolean {
  return fault === 'status' && status >= 400 && status < 500 && status !== 408 && status !== 425;
}

/** `Retry-After` is heeded, but for the one last look at the deadline of a wait. */
function impatience({ cell, setting }: Account, { exchanges, began, deadline }: Ran): string[] {
  const fault = cell?.blow.kind === 'fault' ? cell.blow.fault : undefined;
  if (fault?.kind !== 'status' || fault.retryAfter === undefined || !('seconds' in fault.retryAfter)) return [];
  const asked = fault.retryAfter.seconds * 1_000;
  const mode = String(setting.inputs['mode']);
  // Keys are revoked in parallel. A wait asks for operations singly while its list fails, unless 429 throttles all requests.
  const isAside = ['revoke-key', 'sweep-keys'].includes(mode) || (mode === 'wait-operation' && fault.status !== 429);
  const isLastLook = ({ at }: Exchange) => fault.status >= 500 && at - began >= deadline;
  return exchanges
    .filter((one) => one.fault === 'status' && one.status === fault.status)
    .flatMap(({ n, path, method, at }) =>
      exchanges
        .filter((later) => later.n > n && !(isAside && (later.path !== path || later.method !== method)))
        .filter((later) => later.at < at + asked - rounding && !isLastLook(later))
        .map((later) => `request ${later.n} came ${later.at - at} ms after ${n}, which asked for ${asked} ms`),
    );
}

const tries = 5;

/** A question that fails is asked five times at most; one that is refused for good, once. Patience is no failure. */
function stubbornness({ cell, setting, main }: Account, { exchanges, stage }: Ran): string[] {
  const mode = String(setting.inputs['mode']);
  if (stage === 'post' || cell?.blow.kind !== 'fault' || !/^(list-|wait-)/.test(mode)) return [];
  const { fault } = cell.blow;
  // What a wait has seen once it goes on to look for.
  const isAnswered = mode === 'wait-operation' && main.exchanges.some(isSound);
  const isPatient =
    fault.kind === 'status' && [423, 429, ...(mode === 'wait-operation' ? [404] : [])].includes(fault.status);
  if (isAnswered || isPatient || isBenign(fault, 'main')) return [];
  // An idle connection that is closed costs no try.
  const anew = fault.kind === 'cut-before-headers' ? 1 : 0;
  const most = isRepeated(fault) || asksForLong(fault) || fault.kind === 'endless-body' ? tries + anew : 1;
  const asked = exchanges.filter((one) => one.fault === fault.kind);
  return asked.length > most ? [`what fails was asked for ${asked.length} times`] : [];
}
