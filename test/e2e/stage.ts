import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'vitest';
import type { ServedControlPlaneOptions } from '../../control-plane/index.js';
import { mainBranch, setServiceStage } from './service-stage.js';
import { actFile, actionFolder } from './set-up.js';

/** One line of `act --json`. */
interface Entry {
  readonly job?: string;
  readonly jobID?: string;
  readonly jobResult?: string;
  /** As act shows it to people, masked. Fields that are not named here hold what is behind the masks. */
  readonly msg: string;
}

/** Files of the repository by their paths; all of them can be run. */
type Files = Readonly<Record<string, string>>;

/** A control plane, and workflows that know it by the secret and the variables that the examples name. */
export async function setStage(context: TestContext, options: ServedControlPlaneOptions = {}) {
  const stage = await setServiceStage(context, options);
  const { service, projectId } = stage;
  /** Runs a workflow in act, on this machine, in folders of its own. The repository holds the workflow as it stands. */
  const run = async (workflow: string, event: string, files: Files = {}) => {
    const root = mkdtempSync(join(tmpdir(), 'ctl-action-e2e-'));
    context.onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const entries: Entry[] = [];
    context.onTestFailed(() =>
      console.log(entries.map(({ job = 'act', msg }) => `[${job}] ${msg.trimEnd()}`).join('\n')),
    );
    const words = [
      ...[event, '--json', '--no-cache-server'],
      ...['--local-repository', `org/ctl-action@v1=${actionFolder}`],
      ...['--platform', 'ubuntu-latest=-self-hosted'],
      ...['--secret', `CTL_API_KEY=${service.apiKey}`],
      ...['--var', `CTL_BASE_URL=${service.baseUrl}`],
      ...['--var', `CTL_PROJECT_ID=${projectId}`],
      ...['--var', `CTL_BRANCH_ID=${mainBranch}`],
    ];
    const cwd = writeRepository(join(root, 'repository'), workflow, files);
    const limit = { timeout: 50_000, killSignal: 'SIGKILL' } as const;
    const act = spawn(actFile, words, { cwd, env: environmentIn(root), stdio: ['ignore', 'pipe', 'pipe'], ...limit });
    context.onTestFinished(() => void act.kill('SIGKILL'));
    const take = (line: string) => entries.push(line.startsWith('{') ? JSON.parse(line) : { msg: line });
    for (const input of [act.stdout, act.stderr]) createInterface({ input }).on('line', take);
    const [exitCode] = await once(act, 'close');
    return {
      succeeded: exitCode === 0,
      /** The results of a job: one for each of its matrix, none where it was not run. */
      resultsOf: (id: string) => entries.flatMap(({ jobID, jobResult }) => (jobID === id ? (jobResult ?? []) : [])),
    };
  };
  return { ...stage, run };
}

/** A checkout of acme/shop, as far as act looks at it. */
function writeRepository(folder: string, workflow: string, files: Files): string {
  const all = {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/refs/heads/main': '0123456789abcdef0123456789abcdef01234567\n',
    '.git/config': '[remote "origin"]\n\turl = https://github.com/acme/shop\n',
    '.git/objects/.keep': '',
    [`.github/workflows/${basename(workflow)}`]: readFileSync(workflow, 'utf8'),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
  }
  return folder;
}

/** Neither the settings nor the caches of whoever runs this; and the Node that the bundle is to be tried on. */
function environmentIn(root: string): Record<string, string> {
  const [bin, home] = [join(root, 'bin'), join(root, 'home')];
  for (const folder of [bin, home]) mkdirSync(folder);
  symlinkSync(process.env['NODE_OF_BUNDLE'] ?? process.execPath, join(bin, 'node'));
  return {
    PATH: [bin, process.env['PATH']].join(delimiter),
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
    TMPDIR: home,
  };
}
