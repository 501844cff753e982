import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { proxyPasswords, proxyProblem } from '../../../src/http/proxy.js';

beforeEach(() => {
  for (const name of ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'])
    vi.stubEnv(name, undefined);
});
afterEach(() => void vi.unstubAllEnvs());

const url = new URL('https://control.test/v2');

test.for(['http://proxy.test', 'HTTPS://proxy.test/', 'http://[::1]:3128', 'http://a:100%25@proxy.test'])(
  '%s is a valid proxy',
  (value) => {
    vi.stubEnv('https_proxy', value);
    expect(proxyProblem(url)).toBe(undefined);
  },
);

test.for([
  'proxy.test:3128',
  '://proxy.test',
  'user:secret-word@proxy.test:3128',
  'socks5://user:secret-word@proxy.test:1080',
  'http://',
  'http://user:100%secret-word@proxy.test',
])('%s is no valid proxy: the problem names the variable, and not its value', (value) => {
  vi.stubEnv('https_proxy', value);
  expect(proxyProblem(url)).toMatch(/^https_proxy is not a valid URL.*http:\/\/host:port/);
  expect(proxyProblem(url)).not.toMatch(/secret-word|proxy\.test/);
});

test('only the variable in use for a URL can be a problem', () => {
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
  ['http://user:pass%2Fword@proxy.test', ['pass%2Fword', 'pass/word']],
  ['http://user:password@proxy.test', ['password']],
  ['http://user:seven77@proxy.test', []],
  ['http://user:%61%62%63@proxy.test', ['%61%62%63']],
  ['user:no-scheme@proxy.test', ['no-scheme']],
  ['http://user:bad-escape-100%@proxy.test', ['bad-escape-100%']],
  ['http://user:with/slash:and@sign@proxy.test', ['with/slash:and@sign']],
  ['http://token-alone@proxy.test', []],
  ['http://proxy.test:3128', []],
] as const)('the passwords to mask in %s, of any of the four variables, are %j', ([value, expected]) => {
  for (const name of ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'])
    expect(proxyPasswords({ [name]: value })).toEqual(expected);
});
