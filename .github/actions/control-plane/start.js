import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const plane = spawn(
  process.execPath,
  ['build/test/control-plane/cli.js', '--port', '0', '--operation-seconds', '4,4', '--fail', '1'],
  // A process group of its own: what ends this step must not end the service.
  { detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
);
const [line] = await Promise.race([
  once(createInterface(plane.stdout), 'line'),
  once(plane, 'exit').then(([code]) => {
    throw new Error(`the control plane ended with ${code}`);
  }),
]);
const { base_url, api_key, project_ids, operation_ids } = JSON.parse(line);
tell('GITHUB_ENV', { CTL_BASE_URL: base_url, CTL_API_KEY: api_key });
tell('GITHUB_OUTPUT', {
  'project-id': project_ids[0],
  'operation-ids': JSON.stringify(operation_ids),
});
tell('GITHUB_STATE', { 'base-url': base_url, 'api-key': api_key, pid: plane.pid });
plane.stdout.destroy();
plane.unref();

function tell(file, values) {
  for (const [name, value] of Object.entries(values)) appendFileSync(process.env[file], `${name}=${value}\n`);
}
