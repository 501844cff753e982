import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const security = readFileSync('SECURITY.md', 'utf8');

const [, model = ''] = /## Who can do what\n(.*?)\n## /s.exec(security) ?? [];
const attackers = model
  .split(/^### /m)
  .slice(1)
  .map((section) => {
    const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'));
    return { who: section.slice(0, section.indexOf('\n')), rows };
  });

test('SECURITY.md lists every attacker, and names a test for each attack', () => {
  const words = ['API', 'names', 'fork', 'network', 'earlier', 'later', 'workspace', 'persistent', 'token', 'hijacked'];
  expect(attackers.map(({ who }) => who)).toEqual(words.map((word) => expect.stringContaining(word)));
  for (const { who, rows } of attackers) {
    expect(rows.length, who).toBeGreaterThan(0);
    expect(rows.filter((row) => testsOf(row).length === 0)).toEqual([]);
  }
});

test.for(attackers.flatMap(({ rows }) => rows.flatMap(testsOf)))(
  'SECURITY.md names a test that exists: “%s” (%s)',
  ([title, path]) => {
    expect(existsSync(path)).toBe(true);
    const words = title.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    // In the place of … the test has a value of its table.
    expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`\\(\\s*(['"\`])${words.join('[^\\n]+')}\\1,`));
  },
);

/** The last cell of a row: “title”, “title” (`file`), … */
function testsOf(row: string): [title: string, path: string][] {
  const cell = row.split(' | ').at(-1) ?? '';
  return [...cell.matchAll(/“(.*?)” \(`(test\/[\w/.-]+)`\)/g)].flatMap(([, titles = '', path = '']) =>
    titles.split('”, “').map((title): [string, string] => [title, path]),
  );
}

test('SECURITY.md tells users to accept only attestations of the release workflow on main', () => {
  expect(security).toMatch(/--signer-workflow \S+/);
  expect(security).toContain('--source-ref refs/heads/main');
  expect(security).toContain('--deny-self-hosted-runners');
});

test('Git and GitHub show the changes of dist, and SECURITY.md says how to review them', () => {
  const attributes = execFileSync('git', ['check-attr', 'diff', 'dist/main/index.js'], { encoding: 'utf8' });
  expect(attributes).toBe('dist/main/index.js: diff: unspecified\n');
  expect(security).toMatch(/## Reviewing `dist`\n(.|\n)*npm ci && npm run check/);
  expect(security).toMatch(/checks can be forged/);
});

test('SECURITY.md asks for private vulnerability reports, and the repository settings allow them', () => {
  expect(security).toMatch(/private vulnerability\s+reporting/);
  // Scorecard gives most of its points for an address.
  expect(security).toContain('https://github.com/org/ctl-action/security/advisories/new');
  const settings = JSON.parse(readFileSync('.github/settings.json', 'utf8'));
  expect(settings['private-vulnerability-reporting']).toEqual({ enabled: true });
});
