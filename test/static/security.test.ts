import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const security = readFileSync('SECURITY.md', 'utf8');

test('every defence that SECURITY.md names has a test that exists', () => {
  const [, table = ''] = /## Who can do what\n(.*?)\n## /s.exec(security) ?? [];
  const [, , ...rows] = table.split('\n').filter((line) => line.startsWith('|'));
  const shownBy = rows.map((row) => row.split('|')[4]?.match(/test\/[\w/.-]+/g) ?? []);
  expect(shownBy.length).toBeGreaterThan(8);
  expect(shownBy.filter((tests) => tests.length === 0)).toEqual([]);
  expect(shownBy.flat().filter((path) => !existsSync(path))).toEqual([]);
});

test('users are told to accept attestations of the release workflow on main alone, as the workflow itself does', () => {
  const { jobs } = parse(readFileSync('.github/workflows/release.yml', 'utf8'));
  const check = jobs.publish.steps.find(({ run = '' }) => run.includes('gh attestation verify')).run;
  for (const text of [security, check]) {
    expect(text).toMatch(/--signer-workflow \S+/);
    expect(text).toContain('--source-ref refs/heads/main');
    expect(text).toContain('--deny-self-hosted-runners');
  }
});

test('vulnerabilities are reported in private, and the settings of the repository allow it', () => {
  expect(security).toContain('private vulnerability\nreporting');
  const settings = JSON.parse(readFileSync('.github/settings.json', 'utf8'));
  expect(settings['private-vulnerability-reporting']).toEqual({ enabled: true });
});
