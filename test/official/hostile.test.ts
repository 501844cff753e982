import { expect, test } from 'vitest';
import { startGitHub } from '../../control-plane/github/index.js';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { attacks } from '../kit/hostile-values.js';
import { summaryDefects } from '../kit/text-defects.js';
import { github, token } from './message.js';
import type { WorkStep } from './plan.js';
import { act, setStage } from './stage.js';

const texts = [
  ...Object.values(attacks),
  '##[set-output name=evil;]HACKED',
  'x ##[add-mask]innocent-word',
  '::set-output name=evil::HACKED\n::add-mask::innocent-word',
  '##[set-env name=EVIL;]HACKED',
  'x\n::save-state name=key::HACKED\n::add-path::/HACKED',
];

test.concurrent('the runner obeys no command in the text of a record, even if a later step prints it', async (context) => {
  const { service, projectId, run } = await setStage(context, { projects: 1, operations: 0 });
  const { repository, repository_id: repositoryId, server_url: server } = github;
  const api = await startGitHub({ token, repository, repositoryId });
  context.onTestFinished(() => api.close());
  api.addRun({ id: github.run_id });
  const ours = { id: '111', attempt: 1, fingerprint: repositoryFingerprint(server, repositoryId) };
  for (const text of texts) {
    const names = ['name', 'region_id', 'platform_id', 'proxy_host', 'created_at', 'updated_at', 'provisioner', text];
    service.plane.addProject(Object.fromEntries(names.map((name) => [name, text])));
    const all = Object.fromEntries(
      ['action', 'branch_id', 'endpoint_id', 'created_at', text].map((name) => [name, text]),
    );
    service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed', fields: all });
    service.plane.startOperation({ projectId, lengthMs: 0, fields: { ...all, status: text } });
    for (const key of [
      service.plane.addKey(text),
      service.plane.addKey(makeKeyName('shop', { run: ours, isKept: false }, Math.random)),
    ]) {
      Object.assign(key, { lastUsedAt: Date.now(), lastUsedFrom: text });
    }
  }
  const failed = service.plane.startOperation({
    projectId,
    lengthMs: 0,
    outcome: 'failed',
    fields: { action: texts.join('\n') },
  });
  const hostile = service.plane.addKey(texts.join('\n'));
  const refused = service.plane.addKey('refused');
  const body = JSON.stringify({ message: texts.join('\n'), code: texts.join('\n') });
  service.faults.add({ endpoint: 'revoke-key', path: `/${refused.id}`, fault: { kind: 'status', status: 422, body } });
  const inputs = { 'project-id': projectId };
  const modes = {
    projects: act('projects', 'list-projects'),
    operations: act('operations', 'list-operations', { ...inputs, limit: '0' }),
    wait: act('wait', 'wait-operation', { ...inputs, 'operation-id': failed.id }),
    all: act('all', 'wait-operation', {
      ...inputs,
      'operation-id': 'all',
      since: '1h',
      timeout: '0',
    }),
    keys: act('keys', 'list-keys'),
    revoke: act('revoke', 'revoke-key', { 'key-id': hostile.id }),
    refused: act('refused', 'revoke-key', { 'key-id': refused.id }),
    sweep: act('sweep', 'sweep-keys'),
  };
  const print = (id: string): WorkStep => ({
    id: `print-${id}`,
    if: 'always()',
    env: { OUTPUTS: `\${{ toJSON(steps.${id}.outputs) }}`, FILE: `\${{ steps.${id}.outputs.result-file }}` },
    run: 'node -e \'for (const text of Object.values(JSON.parse(process.env.OUTPUTS))) console.log(text)\'; if test -n "$FILE"; then cat "$FILE"; fi',
  });

  const job = await run({
    apiUrl: api.url,
    outputs: Object.fromEntries(
      [...Object.keys(modes), ...Object.keys(modes).map((id) => `print-${id}`), 'control'].map((id) => [
        id,
        `\${{ steps.${id}.outputs.evil }}`,
      ]),
    ),
    steps: [
      ...Object.values(modes).flatMap((step) => [{ ...step, if: 'always()' }, print(step.id)]),
      { id: 'words', if: 'always()', run: 'echo "innocent-word ${EVIL-nothing} $PATH"' },
      // The runner does obey such lines.
      {
        id: 'control',
        if: 'always()',
        run: `echo 'x ##[set-output name=evil;]HACKED' && echo 'x ##[add-mask]other-word'`,
      },
      { id: 'masked', if: 'always()', run: 'echo "It is other-word."' },
    ],
  });

  const red = ['wait', 'all', 'refused'];
  for (const id of Object.keys(modes)) {
    const step = job.steps[id];
    expect(step?.conclusion, id).toBe(red.includes(id) ? 'failed' : 'succeeded');
    expect(step?.errors.length, id).toBe(red.includes(id) ? 1 : 0);
    expect(
      summaryDefects(step?.summary ?? '').filter((defect) => !defect.startsWith('a summary of')),
      id,
    ).toEqual([]);
    expect(step?.notices.join(), id).not.toContain('HACKED\n');
    expect(job.steps[`print-${id}`], id).toMatchObject({
      conclusion: 'succeeded',
      errors: [],
      warnings: [],
      notices: [],
    });
  }
  for (const id of ['projects', 'operations', 'wait', 'keys', 'sweep']) {
    expect(job.steps[`print-${id}`]?.log, id).toContain('HACKED');
  }
  expect(job.outputs).toEqual({ control: 'HACKED' });
  expect(job.steps['words']?.log).toMatch(/^innocent-word nothing (?!.*HACKED)/m);
  expect(job.steps['masked']?.log).toContain('It is ***.');
});
