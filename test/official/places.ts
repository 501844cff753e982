import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A copy of what a runner would load of the action, as GitHub packs it. */
export const actionArchive = resolve('build', 'official-action.tar.gz');

/** The Nodes of a runner, from the packages that `npm run test:nodes` installs. */
export const nodes = {
  node20: resolve('test/nodes/node_modules/node-20.20'),
  node24: resolve('test/nodes/node_modules/node-24'),
};

export interface WorkerSource {
  readonly kind: 'folder' | 'archive';
  readonly path: string;
  /** Where `bin` of it is put, and beside it the folders of jobs: hard links want one file system. */
  readonly home: string;
}

export function findWorker(env: NodeJS.ProcessEnv): WorkerSource {
  for (const [kind, path, proof] of [
    ['folder', env['RUNNER_DIR'], 'bin/Runner.Worker'],
    ['archive', env['RUNNER_ARCHIVE'], '.'],
  ] as const) {
    if (!path) continue;
    const found = resolve(path, proof);
    if (!existsSync(found)) throw new Error(`${found} does not exist. ${advice}`);
    const { mtimeMs, size } = statSync(found);
    const id = createHash('sha256')
      .update(JSON.stringify([found, mtimeMs, size]))
      .digest('hex')
      .slice(0, 16);
    return { kind, path: resolve(path), home: resolve('.cache', `official-runner-${id}`) };
  }
  throw new Error(advice);
}

const advice =
  'Set RUNNER_DIR to an unpacked release of actions/runner for Linux (x64), or RUNNER_ARCHIVE to its archive.';

export const binOf = ({ home }: WorkerSource): string => join(home, 'bin');
