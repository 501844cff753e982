import { execFile } from 'node:child_process';
import { isIP } from 'node:net';
import { parseJsonOrUndefined } from '../text/json.js';
import { lookupOptions, type NameLookup } from './connect.js';

/** The script that the child process runs. It prints the addresses or an error code as JSON, after a mark. */
const script = `
  const [, mark, host, options] = process.argv;
  require('node:dns').lookup(host, JSON.parse(options), (error, addresses) => {
    const result = error ? error.code : addresses.map(({ address }) => address);
    process.stdout.write(mark + JSON.stringify(result) + mark, () => process.exit());
  });`;
/** Marks the result, because modules that NODE_OPTIONS loads into the child may print, too. */
const mark = '<name lookup>';

/** Looks up names in child processes, because they can be killed. Concurrent lookups of a host share one process. */
export function lookupInChild(): NameLookup {
  const lookups = new Map<string, Promise<readonly string[]>>();
  const closing = new AbortController();

  const start = (host: string): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      const args = [...process.execArgv, '-e', script, '--', mark, host, JSON.stringify(lookupOptions)];
      // On Node 20, NODE_EXTRA_CA_CERTS adds 45 ms to the start of a process, and a lookup needs no certificates.
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: undefined };
      const options = { env, windowsHide: true, signal: closing.signal, killSignal: 'SIGKILL' } as const;
      execFile(process.execPath, args, options, (_, stdout) => {
        const result = parseResult(stdout.split(mark)[1] ?? '');
        if (typeof result !== 'string') return resolve(result);
        const error = new Error(`getaddrinfo ${result} ${host}`);
        reject(Object.assign(error, { code: result, syscall: 'getaddrinfo', hostname: host }));
      });
    });

  return {
    addresses(host) {
      const lookup = lookups.get(host) ?? start(host).finally(() => lookups.delete(host));
      lookups.set(host, lookup);
      return lookup;
    },
    close: () => closing.abort(),
  };
}

/** Returns the addresses or an error code. Unusable output is treated as a temporary error. */
function parseResult(json: string): readonly string[] | string {
  const result = parseJsonOrUndefined(json);
  if (typeof result === 'string' && /^E[A-Z_]+$/.test(result)) return result;
  const addresses = Array.isArray(result) ? result.map(String) : [];
  return addresses.length > 0 && addresses.every((address) => isIP(address) !== 0) ? addresses : 'EAI_AGAIN';
}
