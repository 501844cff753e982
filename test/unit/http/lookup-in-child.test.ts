import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { lookupInChild } from '../../../src/http/lookup-in-child.js';

/** Lookups in children whose `dns.lookup` runs this JavaScript. */
function lookups({ onTestFinished }: TestContext, script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  const file = join(folder, 'lookup.cjs');
  writeFileSync(file, `require('node:dns').lookup = (host, options, callback) => { ${script} };`);
  const { execArgv } = process;
  process.execArgv = ['--require', file];
  const names = lookupInChild();
  onTestFinished(() => {
    process.execArgv = execArgv;
    names.close();
    rmSync(folder, { recursive: true });
  });
  return names;
}

test('all addresses of a host are found, in their order', async (context) => {
  const second = `{ address: host === 'a.test' && options.all ? '192.0.2.1' : '' }`;
  const names = lookups(context, `callback(null, [{ address: '2001:db8::1' }, ${second}])`);
  expect(await names.addresses('a.test')).toEqual(['2001:db8::1', '192.0.2.1']);
});

test('the real lookup finds localhost', async ({ onTestFinished }) => {
  const names = lookupInChild();
  onTestFinished(names.close);
  expect(await names.addresses('localhost')).toContain('127.0.0.1');
});

test.for([
  ['gives an error', `callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))`, 'ENOTFOUND'],
  ['prints no JSON', `process.stdout.write('192.0.2.1'); process.exit()`, 'EAI_AGAIN'],
  ['ends by a signal', `process.kill(process.pid, 'SIGKILL')`, 'EAI_AGAIN'],
  ['gives no address', 'callback(null, [])', 'EAI_AGAIN'],
  ['gives a name among addresses', `callback(null, [{ address: '::1' }, { address: 'a.test' }])`, 'EAI_AGAIN'],
  ['gives an error that is no code', `callback({ code: '::error::' })`, 'EAI_AGAIN'],
] as const)(
  'a child that %s is a failed lookup, with an error as of getaddrinfo',
  async ([, script, code], context) => {
    const failed = lookups(context, script).addresses('a.test');
    await expect(failed).rejects.toMatchObject({ code, syscall: 'getaddrinfo', hostname: 'a.test' });
  },
);

test('one child at a time looks up a host, and the next request after it starts a new one', async (context) => {
  const names = lookups(context, `callback(null, [{ address: '192.0.2.1' }])`);
  const [first, second, other] = ['a.test', 'a.test', 'b.test'].map((host) => names.addresses(host));
  expect(second).toBe(first);
  expect(other).not.toBe(first);
  await Promise.all([first, other]);
  const next = names.addresses('a.test');
  expect(next).not.toBe(first);
  await next;
});

test('the end of the process ends pending lookups', async (context) => {
  const names = lookups(context, 'setInterval(() => {}, 1000)');
  const pending = names.addresses('a.test');
  names.close();
  await expect(pending).rejects.toMatchObject({ code: 'EAI_AGAIN' });
});
