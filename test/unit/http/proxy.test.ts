import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { proxyPasswords, proxyProblem } from '../../../src/http/proxy.js';

beforeEach(() => {
  for (const name of ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'])
    vi.stubEnv(name, undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const url = new URL('https://control.test/v2');

it.each([
  'http://proxy.test',
  'http://proxy.test:3128',
  'HTTPS://proxy.test/',
  'http://[::1]:3128',
  'http://a:100%25@proxy.test',
])('%s is a proxy', (value) => {
  vi.stubEnv('https_proxy', value);
  expect(proxyProblem(url)).toBe(undefined);
});

it.each([
  'proxy.test:3128',
  '10.0.0.1:3128',
  'user:secret-word@proxy.test:3128',
  'socks5://user:secret-word@proxy.test:1080',
  'http://',
  'http://user:100%secret-word@proxy.test',
  'http://user:secret-word@proxy.test:port',
])('%s is none, which is reported by the name of the variable, without its value', (value) => {
  vi.stubEnv('https_proxy', value);
  expect(proxyProblem(url)).toMatch(/^https_proxy is not a valid URL.*http:\/\/host:port/);
  expect(proxyProblem(url)).not.toMatch(/secret-word|proxy\.test|10\.0/);
});

it('the variable that is named is the one in use, as it is written', () => {
  vi.stubEnv('HTTPS_PROXY', 'proxy.test:3128');
  expect(proxyProblem(url)).toMatch(/^HTTPS_PROXY /);
  expect(proxyProblem(new URL('http://control.test/v2'))).toBe(undefined);
  vi.stubEnv('https_proxy', 'http://proxy.test:3128');
  expect(proxyProblem(url)).toBe(undefined);
});

it('a variable that is not used for a host is no problem', () => {
  vi.stubEnv('https_proxy', 'proxy.test:3128');
  vi.stubEnv('no_proxy', 'control.test');
  expect(proxyProblem(url)).toBe(undefined);
  expect(proxyProblem(new URL('https://localhost/v2'))).toBe(undefined);
});

it.each([
  ['http://user:pass%2Fword@proxy.test', ['pass%2Fword', 'pass/word']],
  ['http://user:password@proxy.test', ['password']],
  ['http://user:seven77@proxy.test', []],
  ['http://user:%61%62%63@proxy.test', ['%61%62%63']],
  ['user:no-scheme@proxy.test', ['no-scheme']],
  ['http://user:bad-escape-100%@proxy.test', ['bad-escape-100%']],
  ['http://user:with/slash:and@sign@proxy.test', ['with/slash:and@sign']],
  ['http://token-alone@proxy.test', []],
  ['http://proxy.test:3128', []],
])('the passwords to mask in %s are %j', (value, expected) => {
  expect(proxyPasswords({ http_proxy: value })).toEqual(expected);
});

it('the passwords of all four variables are masked', () => {
  const environment = { https_proxy: 'one', HTTPS_PROXY: 'two', http_proxy: 'three', HTTP_PROXY: 'four' };
  const values = Object.entries(environment).map(([name, word]) => [name, `http://a:password-${word}@proxy.test`]);
  expect(proxyPasswords(Object.fromEntries(values))).toHaveLength(4);
});
