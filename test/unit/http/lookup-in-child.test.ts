import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, type TestContext } from 'vitest';
import { lookupInChild } from '../../../src/http/lookup-in-child.js';

/** Lookups in children whose `dns.lookup` calls back with this JavaScript. */
function lookups({ onTestFinished }: TestContext, callback: string) {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  const file = join(folder, 'lookup.cjs');
  writeFileSync(file, `require('node:dns').lookup = (host, options, callback) => { ${callback} };`);
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

it('finds the addresses of a host in their order', async (context) => {
  const names = lookups(
    context,
    `callback(null, [{ address: '2001:db8::1', family: 6 }, { address: host === 'a.test' && options.all ? '192.0.2.1' : '' }])`,
  );
  expect(await names.addresses('a.test')).toEqual(['2001:db8::1', '192.0.2.1']);
});

it('looks up for real what no test stands in for', async ({ onTestFinished }) => {
  const names = lookupInChild();
  onTestFinished(names.close);
  expect(await names.addresses('localhost')).toContain('127.0.0.1');
});

it('gives the error of the lookup, as Node does in its own process', async (context) => {
  const names = lookups(context, `callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))`);
  await expect(names.addresses('a.test')).rejects.toMatchObject({
    code: 'ENOTFOUND',
    syscall: 'getaddrinfo',
    hostname: 'a.test',
  });
});

it.for([
  ['prints no JSON', `process.stdout.write('192.0.2.1'); process.exit()`],
  ['prints nothing', 'process.exit()'],
  ['ends by a signal', `process.kill(process.pid, 'SIGKILL')`],
  ['gives no address', 'callback(null, [])'],
  ['gives something that is no address', `callback(null, [{ address: '192.0.2.1' }, { address: 'a.test' }])`],
  ['gives something that is no list', `callback(null, { address: '192.0.2.1' })`],
  ['gives an empty item', 'callback(null, [null])'],
  ['gives an error with odd words', `callback({ code: '::error::' })`],
])('a child that %s is a lookup that failed, and may be repeated', async ([, callback = ''], context) => {
  const names = lookups(context, callback);
  await expect(names.addresses('a.test')).rejects.toMatchObject({ code: 'EAI_AGAIN', hostname: 'a.test' });
});

it('one child at a time looks up a host, and the next request after it gets a new one', async (context) => {
  const names = lookups(context, `callback(null, [{ address: '192.0.2.1' }])`);
  const first = names.addresses('a.test');
  expect(names.addresses('a.test')).toBe(first);
  expect(names.addresses('b.test')).not.toBe(first);
  await first;
  expect(names.addresses('a.test')).not.toBe(first);
});

it('the end of the process ends lookups that nobody answers', async (context) => {
  const names = lookups(context, 'setInterval(() => {}, 1000)');
  const pending = names.addresses('a.test');
  names.close();
  await expect(pending).rejects.toMatchObject({ code: 'EAI_AGAIN' });
});
