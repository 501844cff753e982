import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { proxyPasswords, proxyProblem } from '../../../src/http/proxy.js';

beforeEach(() => {
  for (const name of ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'])
    vi.stubEnv(name, undefined);
});
afterEach(() => void vi.unstubAllEnvs());

const url = new URL('https://control.test/v2');

const valid = ['http://proxy.test', 'HTTPS://proxy.test/', 'http://[::1]:3128', 'http://a:100%25@proxy.test'];
test.for(valid)('the proxy URL %s is accepted', (value) => {
  vi.stubEnv('https_proxy', value);
  expect(proxyProblem(url)).toBe(undefined);
});

test.for([
  ...['proxy.test:3128', '://proxy.test', 'user:secret-word@proxy.test:3128', 'http://'],
  ...['socks5://user:secret-word@proxy.test:1080', 'http://user:100%secret-word@proxy.test'],
])('the proxy URL %s is rejected with an error that names the variable but not the URL', (value) => {
  vi.stubEnv('https_proxy', value);
  expect(proxyProblem(url)).toMatch(/^https_proxy is not a valid URL.*http:\/\/host:port/);
  expect(proxyProblem(url)).not.toMatch(/secret-word|proxy\.test/);
});

test('an invalid proxy variable is an error only for requests that would use this proxy', () => {
  vi.stubEnv('HTTPS_PROXY', 'proxy.test:3128');
  expect(proxyProblem(url)).toMatch(/^HTTPS_PROXY /);
  expect(proxyProblem(new URL('http://control.test/v2'))).toBe(undefined);
  expect(proxyProblem(new URL('https://localhost/v2'))).toBe(undefined);
  for (const name of ['no_proxy', 'NO_PROXY']) {
    vi.stubEnv(name, 'control.test');
    expect(proxyProblem(url)).toBe(undefined);
    vi.stubEnv(name, undefined);
  }
  vi.stubEnv('https_proxy', 'http://proxy.test:3128');
  expect(proxyProblem(url)).toBe(undefined);
});

test.for([
  ['a percent-encoded password', 'http://user:pass%2Fword@proxy.test', ['pass%2Fword', 'pass/word']],
  ['a plain password', 'http://user:password@proxy.test', ['password']],
  ['the password in a URL without a scheme', 'user:no-scheme@proxy.test', ['no-scheme']],
  ['a password with /, : and @', 'http://user:with/slash:and@sign@proxy.test', ['with/slash:and@sign']],
] as const)('%s is found in each proxy variable, so that it can be masked', ([, value, expected]) => {
  for (const name of ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'])
    expect(proxyPasswords({ [name]: value })).toEqual(expect.arrayContaining([...expected]));
});
