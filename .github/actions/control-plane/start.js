import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const plane = spawn(
  process.execPath,
  ['build/control-plane/cli.js'],
  // A process group of its own: what ends this step must not end the service.
  { detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
);
const [line] = await Promise.race([
  once(createInterface(plane.stdout), 'line'),
  once(plane, 'exit').then(([code]) => {
    throw new Error(`the control plane ended with ${code}`);
  }),
]);
const { base_url, api_key, project_ids, control_url } = JSON.parse(line);
tell('GITHUB_ENV', { CTL_BASE_URL: base_url, CTL_API_KEY: api_key });
tell('GITHUB_OUTPUT', {
  'project-id': project_ids[0],
  'operation-ids': JSON.stringify([await startOperation('failed'), await startOperation('finished')]),
});
tell('GITHUB_STATE', { 'base-url': base_url, 'api-key': api_key, pid: plane.pid });
plane.stdout.destroy();
plane.unref();

async function startOperation(outcome) {
  const url = `${control_url}/projects/${project_ids[0]}/operations`;
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams({ seconds: '4', outcome }) });
  return (await answer.json()).operation.id;
}

function tell(file, values) {
  for (const [name, value] of Object.entries(values)) appendFileSync(process.env[file], `${name}=${value}\n`);
}
