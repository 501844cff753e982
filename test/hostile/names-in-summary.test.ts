import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sanitizeLine } from '../../src/text/sanitize-line.js';
import { harm, harmOfSummary } from './harm.js';
import { projectId, type Service, step, type Told } from './in-process.js';
import { attacks, text } from './texts.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const other = 'b17f8772-1877-4da9-a939-3a3ae62d1d8d';

function inEveryField(written: string): Service {
  const odd = { name: written, region_id: written, pg_version: written, created_at: written, last_used_at: written };
  const operation = { action: written, branch_id: written, failures_count: written, created_at: written };
  const operations = [
    { id, status: 'failed', ...operation },
    { id: other, status: written || 'running', ...operation },
    { id: written.slice(0, 500).replace(/\p{Cs}/gu, '') || 'c', status: 'skipped', ...operation },
  ];
  return ({ url }) => {
    const what = url.pathname.split('/').at(-1);
    if (what === 'projects')
      return {
        body: JSON.stringify({
          projects: [
            { id: written || 'p', ...odd },
            { id: 'b', ...odd },
          ],
        }),
      };
    if (what === 'api_keys') return { body: JSON.stringify([{ id: 7, ...odd }]) };
    return { body: JSON.stringify({ operations }) };
  };
}

const calls = ['list-projects', 'list-keys', 'list-operations', 'wait-operation'];

function run(mode: string, service: Service): Promise<Told> {
  return step({ mode, 'project-id': projectId, 'operation-id': 'all', filter: 'id=*' }, service);
}

test.each(Object.entries(attacks))('%s in every field is text in log and summary', async (_, written) => {
  for (const mode of calls) {
    const told = await run(mode, inEveryField(written));
    expect(harm(told, told.succeeded), mode).toEqual([]);
  }
});

test('any text in every field is text in log and summary', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...calls), text, async (mode, written) => {
      const told = await run(mode, inEveryField(written));
      expect(harm(told, told.succeeded)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('a name that looks like markup is shown as it is, letter by letter', async () => {
  for (const written of Object.values(attacks)) {
    const { summary } = await run('list-keys', inEveryField(written));
    const shown = [...summary.matchAll(/<code>([^<]*)<\/code>/g)].map(([, html = '']) => unescaped(html));
    const name = sanitizeLine(written, 80);
    if (name !== '') expect(shown).toContain(name);
  }
});

function unescaped(html: string): string {
  const signs: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return html.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => signs[name] ?? '');
}

test('a name that thousands of keys bear does not fill log or summary', async () => {
  const keys = Array.from({ length: 50_000 }, (_, n) => ({ id: n, name: 'one' }));
  const told = await step({ mode: 'revoke-key', 'key-name': 'one' }, () => ({ body: JSON.stringify(keys) }));
  expect(harm(told, false)).toEqual([]);
  expect(told.annotations.at(-1)?.message).toContain('50000 keys are named one: 0, 1, 2,');
});

test('the judge of summaries lets nothing of this pass', () => {
  const heading = '### ✅ x\n\n';
  for (const odd of [
    '@octocat',
    '#1',
    'https://evil',
    '<b>',
    '`a`',
    '[a](b)',
    '**a**',
    '&lt;',
    '<code>a&b</code>',
    '<a href="x">y</a>',
    '```\n',
  ])
    expect(harmOfSummary(`${heading}<p>${odd}</p>`), odd).not.toEqual([]);
});
