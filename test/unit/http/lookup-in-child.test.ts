import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { lookupInChild } from '../../../src/http/lookup-in-child.js';

/** Lookups in children whose `dns.lookup` runs this JavaScript. As with NODE_OPTIONS, a module that they load first prints. */
function lookups({ onTestFinished }: TestContext, script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  const file = join(folder, 'lookup.cjs');
  const banner = `console.log('injecting env (3)'); process.on('exit', () => console.log('bye'));`;
  writeFileSync(file, `${banner} require('node:dns').lookup = (host, options, callback) => { ${script} };`);
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

test('a lookup returns all addresses of a host in their order, although a module that Node loads first prints', async (context) => {
  const second = `{ address: host === 'a.test' && options.all ? '192.0.2.1' : '' }`;
  const names = lookups(context, `callback(null, [{ address: '2001:db8::1' }, ${second}])`);
  expect(await names.addresses('a.test')).toEqual(['2001:db8::1', '192.0.2.1']);
});

test.for([
  ['reports an error', `callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))`, 'ENOTFOUND'],
  ['prints no result', `process.stdout.write('["192.0.2.1"]'); process.exit()`, 'EAI_AGAIN'],
  ['prints half a result', `process.stdout.write(process.argv[1] + '["192.0.2'); process.exit()`, 'EAI_AGAIN'],
  ['is killed by a signal', `process.kill(process.pid, 'SIGKILL')`, 'EAI_AGAIN'],
  ['returns no address', 'callback(null, [])', 'EAI_AGAIN'],
  ['returns a name among the addresses', `callback(null, [{ address: '::1' }, { address: 'a.test' }])`, 'EAI_AGAIN'],
  ['reports an invalid error code', `callback({ code: '::error::' })`, 'EAI_AGAIN'],
] as const)('if the child %s, the lookup fails with an error of getaddrinfo', async ([, script, code], context) => {
  const failed = lookups(context, script).addresses('a.test');
  await expect(failed).rejects.toMatchObject({ code, syscall: 'getaddrinfo', hostname: 'a.test' });
});

test('concurrent lookups of a host share a child process, and a later lookup starts a new one', async (context) => {
  const names = lookups(context, `callback(null, [{ address: '192.0.2.1' }])`);
  const [first, second, other] = ['a.test', 'a.test', 'b.test'].map((host) => names.addresses(host));
  expect(second).toBe(first);
  expect(other).not.toBe(first);
  await Promise.all([first, other]);
  const next = names.addresses('a.test');
  expect(next).not.toBe(first);
  await next;
});

test('closing the name lookup rejects its pending lookups', async (context) => {
  const names = lookups(context, 'setInterval(() => {}, 1000)');
  const pending = names.addresses('a.test');
  names.close();
  await expect(pending).rejects.toMatchObject({ code: 'EAI_AGAIN' });
});
