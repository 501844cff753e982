// Renders docs/summary-light.png and docs/summary-dark.png: the summary of a step, in Chromium, as GitHub shows it. It needs
// Chromium (the variable CHROMIUM, or `chromium` in PATH) and a font with emoji.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startControlPlane } from '../build/control-plane/index.js';
import { renderMarkdown } from '../build/test/demo/present.js';
import { startStep } from '../build/test/runner/step.js';

const chromium = process.env['CHROMIUM'] ?? 'chromium';
const width = 1012;

/** The colours of GitHub's two themes. */
const themes = {
  light: { back: '#ffffff', text: '#1f2328', line: '#d1d9e0', row: '#f6f8fa', code: '#eff1f3' },
  dark: { back: '#0d1117', text: '#f0f6fc', line: '#3d444d', row: '#151b23', code: '#262c36' },
};

const folder = resolve('build/pictures');
mkdirSync(folder, { recursive: true });
const html = renderMarkdown(await summary());
for (const [name, theme] of Object.entries(themes)) {
  const page = join(folder, `${name}.html`);
  writeFileSync(page, pageOf(html, theme));
  const [, height] = /data-height="(\d+)"/.exec(browse(page, '--dump-dom')) ?? [];
  if (height === undefined) throw new Error(`Chromium did not draw ${page}.`);
  const picture = resolve('docs', `summary-${name}.png`);
  rmSync(picture, { force: true });
  browse(page, `--screenshot=${picture}`, `--window-size=${width},${height}`, '--force-device-scale-factor=1.5');
  console.log(picture);
}

/** A failed wait: one operation has finished, one has failed, and one is running. */
async function summary() {
  const service = await startControlPlane({ projects: 1, operations: 0 });
  const [projectId = ''] = service.projectIds;
  const ids = [
    { action: 'create_branch', lengthMs: 8_000, branchId: 'br-main-48103377' },
    { action: 'start_compute', lengthMs: 19_000, branchId: 'br-main-48103377', outcome: 'failed' },
    { action: 'apply_config', lengthMs: 90_000, branchId: 'br-main-48103377' },
  ].map((operation) => service.plane.startOperation(operation).id);
  const inputs = {
    mode: 'wait-operation',
    'api-key': service.apiKey,
    'base-url': service.baseUrl,
    'project-id': projectId,
    'operation-id': ids.join(),
  };
  const step = await startStep({ inputs }).done;
  step.job.dispose();
  await service.close();
  return step.summary;
}

function pageOf(html, { back, text, line, row, code }) {
  return `<!doctype html>
<meta charset="utf-8">
<style>
body { margin: 0; background: ${back}; color: ${text}; font: 16px/1.5 "Noto Sans", "Liberation Sans", sans-serif, emoji; }
main { padding: 24px 32px 16px; }
h3 { font-size: 20px; margin: 0 0 16px; }
p { margin: 0 0 16px; }
table { border-collapse: collapse; font-size: 14px; margin: 0 0 16px; }
th, td { border: 1px solid ${line}; padding: 6px 13px; text-align: left; white-space: nowrap; }
tr:nth-child(odd) { background: ${row}; }
tr:first-child { background: ${back}; }
code { background: ${code}; border-radius: 6px; font: 85% "Liberation Mono", monospace; padding: .2em .4em; }
</style>
<main>${html}</main>
<script>
document.body.dataset.height = Math.ceil(document.querySelector('main').getBoundingClientRect().height);
</script>
`;
}

function browse(page, ...options) {
  const profile = join(folder, 'profile');
  const common = [
    '--headless',
    '--no-sandbox',
    '--hide-scrollbars',
    `--user-data-dir=${profile}`,
    '--virtual-time-budget=10000',
  ];
  const { status, stdout, error } = spawnSync(chromium, [...common, ...options, pathToFileURL(page).href], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${chromium} failed: ${error?.message ?? `exit code ${status}`}`);
  return stdout;
}
