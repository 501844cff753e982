import { ADDRCONFIG, type LookupAllOptions, lookup } from 'node:dns';

export interface NameLookup {
  /** In the order in which to try them. */
  addresses(host: string): Promise<readonly string[]>;
  /** Ends pending lookups if that is possible. */
  close(): void;
}

/** All addresses, with the same hint that Node's sockets use. */
export const lookupOptions: LookupAllOptions = { all: true, hints: process.platform === 'win32' ? 0 : ADDRCONFIG };

/** A pending lookup is a thread in `getaddrinfo`. Nothing can interrupt it, and `process.exit()` waits for it. */
export const lookupInProcess: NameLookup = {
  addresses: (host) =>
    new Promise((resolve, reject) => {
      lookup(host, lookupOptions, (error, found) => {
        if (error) reject(error);
        else resolve(found.map(({ address }) => address));
      });
    }),
  close: () => undefined,
};
