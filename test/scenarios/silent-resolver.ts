import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StepOptions } from '../runner/step.js';
import { sabotage } from './sabotage.js';

const namespaces = ['--user', '--map-root-user', '--mount', '--net'];

/** For beforeAll. */
export function requireNamespaces(): void {
  try {
    execFileSync('unshare', [...namespaces, 'true'], { stdio: 'ignore' });
  } catch (cause) {
    const what =
      'These tests need namespaces: run `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` first';
    throw new Error(`${what}, or run them as root.`, { cause });
  }
}

/** Runs a step in a network of its own, where the name server never answers. `getaddrinfo` is the real one. */
export function silentResolver(
  folder: string,
  { resolvConf = '', fixtures = [], env = {} }: SilentOptions = {},
): StepOptions {
  writeFileSync(join(folder, 'resolv.conf'), `nameserver 127.0.0.1\n${resolvConf}`);
  writeFileSync(join(folder, 'nsswitch.conf'), 'hosts: files dns\n');
  const node = process.env['NODE_OF_BUNDLE'] ?? process.execPath;
  return {
    node: 'unshare',
    nodeArgs: [...namespaces, node, ...['silent-resolver', ...fixtures].flatMap(sabotage)],
    env: { RESOLVER_FILES: folder, ...env },
    limitMs: 60_000,
  };
}

interface SilentOptions {
  /** Further lines. */
  readonly resolvConf?: string;
  /** Loaded after the resolver. */
  readonly fixtures?: readonly string[];
  readonly env?: StepOptions['env'];
}
