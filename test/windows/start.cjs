// Runs in wine. Starts a step with pipes of Windows: as its stdout, Node there cannot open a pipe of Linux.
const { spawn } = require('node:child_process');
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');

const folder = process.argv[2];
const { args, cwd, env } = JSON.parse(readFileSync(`${folder}/step.json`, 'utf8'));
const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
for (const stream of ['stdout', 'stderr'])
  child[stream].on('data', (chunk) => appendFileSync(`${folder}/${stream}`, chunk));
child.on('close', (exitCode) => writeFileSync(`${folder}/exit`, String(exitCode)));
// Ctrl+C reaches all processes of a console. This one stays for the end of the step.
process.on('SIGINT', () => {});
