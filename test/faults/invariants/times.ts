import { type Account, processesOf, type Ran } from '../account.js';

/** Milliseconds. */
const grace = 2_000;

/** By its deadline and two seconds more, or within two seconds of a signal. */
export function times(account: Account): string[] {
  return processesOf(account).flatMap((ran) => {
    const late = lateness(ran);
    return late > 0 ? [`a process ended ${Math.round(late)} ms late`] : [];
  });
}

/** How long after the last moment that is promised the process ended; below 0: how long before. */
export function lateness({ stage, result, deadline, signalled }: Ran): number {
  // A signal does not keep post from its work.
  const end = stage === 'main' && signalled !== undefined ? Math.min(deadline, signalled) : deadline;
  return result.ms - end - grace;
}
