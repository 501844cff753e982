import { isIP, type Socket } from 'node:net';
import type { Clock } from '../time/clock.js';

/** Milliseconds until the next address is tried in parallel: the default of RFC 8305, section 5. */
const headStart = 250;

/**
 * Connects to the first address that answers. All attempts stay open. Node drops an attempt after 250 ms, but a slow
 * address may be the only one that works.
 */
export function connectToFirst(
  addresses: readonly string[],
  connect: (address: string) => Socket,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const queue = alternateFamilies(addresses);
    const pending = new Set<Socket>();
    const errors: Error[] = [];
    let forgetNext = () => {};

    const end = () => {
      forgetNext();
      signal?.removeEventListener('abort', abort);
      queue.length = 0;
      for (const socket of pending) socket.destroy();
    };
    const abort = () => {
      end();
      reject(new Error('The connection attempt was aborted'));
    };
    const tryNext = () => {
      forgetNext();
      const address = queue.shift();
      if (address === undefined) {
        if (pending.size > 0) return;
        end();
        reject(errors.length === 1 ? errors[0] : new AggregateError(errors));
        return;
      }
      const socket = connect(address);
      pending.add(socket);
      const fail = (error: Error) => {
        pending.delete(socket);
        errors.push(error);
        tryNext();
      };
      socket.once('error', fail);
      socket.once('connect', () => {
        pending.delete(socket);
        socket.off('error', fail);
        end();
        resolve(socket);
      });
      if (queue.length > 0) forgetNext = clock.at(clock.now() + headStart, tryNext);
    };

    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    tryNext();
  });
}

/** The order of RFC 8305, section 4. An address family without a route then costs one delay, not one for each address. */
function alternateFamilies(addresses: readonly string[]): string[] {
  const isFirst = (address: string) => isIP(address) === isIP(addresses[0] ?? '');
  const others = addresses.filter((address) => !isFirst(address));
  const alternating = addresses.filter(isFirst).flatMap((address) => [address, ...others.splice(0, 1)]);
  return [...alternating, ...others];
}
