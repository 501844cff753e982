import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { harmless } from '../../src/action/harmless.js';
import { BadValue, baseUrl, duration, keyId, oneOf, urlWithoutSecrets } from '../../src/action/inputs/input-values.js';
import { operationIds } from '../../src/action/inputs/operation-ids.js';
import { code } from '../../src/action/reports/markdown.js';
import { Secrets } from '../../src/action/secrets.js';
import { announcesMore } from '../../src/api/announces-more.js';
import { read } from '../../src/api/answers.js';
import { ControlApi } from '../../src/api/control-api.js';
import { silent } from '../../src/api/log.js';
import { ApiError } from '../../src/http/errors.js';
import type { Request } from '../../src/http/exchange.js';
import { retryAfter } from '../../src/http/retry-after.js';
import { fingerprintOf, parseKeyName } from '../../src/modes/keys/key-name.js';
import { BadFilter, parseFilter } from '../../src/modes/lists/filter.js';
import { parseJson, printJson } from '../../src/text/json.js';
import { nearest } from '../../src/text/nearest.js';
import { plain } from '../../src/text/plain.js';

/** Linear work on a megabyte takes milliseconds, work by its square a quarter of an hour: nothing lies in between. */
const megabyte = 1_000_000;
const patience = 20_000;
/** For what takes, as it is allowed to, hundreds of steps a letter. */
const tenth = megabyte / 10;

const of = (unit: string, end = '') => unit.repeat(Math.ceil(megabyte / unit.length)) + end;
const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const request: Request = { method: 'GET', url: new URL('https://control.test/v2/projects'), headers: {}, mostBytes: 0 };
const answer =
  (body: string, status = 500) =>
  () =>
    read(request, { status, headers: {}, body }, 0, () => undefined);
const filter = (text: string) => () => parseFilter(text, ['name', 'region_id']);
const admits = (pattern: string, value: string) => () =>
  parseFilter(`name=${pattern}`, ['name']).admits({ name: value });
const redact = (secret: string, text: string) => () => {
  const secrets = new Secrets(() => undefined);
  secrets.add(secret);
  secrets.add(`${secret}2`);
  return secrets.redact(text);
};

const work: Readonly<Record<string, () => unknown>> = {
  'a duration of digits': () => duration()(of('9')),
  'a duration of digits without its unit': () => duration()(of('9', 'x')),
  'a duration of all its units, again and again': () => duration()(of('1h1m1s')),
  'a duration that ends too early': () => duration()(`1d${of('9')}h${of('9')}`),
  'words to choose from': () => oneOf(['empty', 'match'])(of('empt')),
  'a word that is near to none': () => nearest(of('projec'), ['project_id', 'branch_id']),
  'the digits of a key': () => keyId(of('9')),
  'zeros before the digits of a key': () => keyId(of('0', '7')),
  'ids by commas': () => operationIds(of(`${id},`)),
  'nothing but commas': () => operationIds(of(',')),
  'nothing but blanks and line ends': () => operationIds(of(' \n', '{')),
  'ids by everything': () => operationIds(of(`${id} ,\n\t, `)),
  'an array of ids': () => operationIds(`[${of(`"${id}",`)}"${id}"]`),
  'an array that never ends': () => operationIds(of('[')),
  'an array of long integers': () => operationIds(`[${of('12345678901234567890,')}1]`),
  'an address with slashes inside': () => controlApi(`https://h/${of('/', 'x')}`),
  'an address with slashes at its end': () => controlApi(`https://h/${of('/')}`),
  'an address of at signs': () => urlWithoutSecrets(of('a@', '?')),
  'an address with no end of a scheme': () => urlWithoutSecrets(of('a')),
  'a server with slashes inside': () => fingerprintOf(`https://h${of('/', 'x')}`, 'a/b'),
  'a filter of empty lines': filter(of('\n')),
  'a filter of one line': filter(of('name')),
  'a filter of blanks before a sign': filter(of(' ', '=x')),
  'a filter of signs': filter(of('=')),
  'a filter of good lines': filter(of('name=*\n')),
  'a pattern of stars': filter(`name=${of('*?')}`),
  'a value against stars': admits('a*a*a*a*a*a*b', of('a')),
  'a value against questions': admits(`*${'?'.repeat(200)}b`, of('a').slice(0, tenth)),
  'a value against a long pattern': admits(`*${'a'.repeat(250)}b`, of('a').slice(0, tenth)),
  'a value against a pattern half as long': admits(`*${of('a').slice(megabyte / 2)}b`, of('a')),
  'colours without end': () => plain(of('\u001b[')),
  'links of a terminal without end': () => plain(of('\u001b]8;;')),
  'marks of direction': () => plain(of('\u202E')),
  'blanks to be cut': () => plain(of(' ', 'x')),
  'line ends in the log': () => harmless(of('\n')),
  'other line ends in the log': () => harmless(of('\u2028')),
  'blanks in the log': () => harmless(of(' \t\u0085')),
  'colons in the log': () => harmless(of(':')),
  'old commands in the log': () => harmless(of('##[')),
  'sharps in the log': () => harmless(of('#')),
  'signs of HTML': () => code(of('<&"')),
  'a page of titles': answer(of('<title')),
  'a page of blanks': answer(of(' ', '<html>')),
  'a body of ids': answer(of('"request_id" : ')),
  'a body of blanks': answer(of(' '), 200),
  'JSON of backslashes': () => parseJson(`"${of('\\\\')}"`),
  'JSON of quotes': answer(of('"'), 200),
  'JSON of digits': answer(of('1'), 200),
  'JSON of long integers and blanks': answer(`[${of('12345678901234567   ,')}`, 200),
  'JSON of a long integer and blanks': answer(`[12345678901234567${of(' ')}`, 200),
  'JSON printed with long integers': () => printJson(parseJson(`[${of('12345678901234567890,')}1]`)),
  'JSON of minus signs': answer(of('-'), 200),
  'a Retry-After of digits': () => retryAfter({ 'retry-after': of('9', 'x') }, 0),
  'a Retry-After of blanks': () => retryAfter({ 'retry-after': of(' ', 'x') }, 0),
  'a Retry-After like a date': () => retryAfter({ 'retry-after': of('(', ' GMT') }, 0),
  'a name of hyphens': () => parseKeyName(of('-')),
  'a name of runs': () => parseKeyName(of('a-run1-1-')),
  'targets of links that never end': () => announcesMore({ link: of('<') }),
  'parameters of a link': () => announcesMore({ link: of(';a="b') }),
  'words of a link': () => announcesMore({ link: of('; rel') }),
  'a secret that is nearly everywhere': redact('aaaaaaaab', of('a')),
  'a secret that is everywhere': redact('aaaaaaaa', of('a')),
};

function controlApi(address: string): ControlApi {
  const access = { baseUrl: baseUrl(address), apiKey: 'a-key', requestTimeout: 1 };
  return new ControlApi(() => Promise.reject(new Error('not asked')), access, silent);
}

declare global {
  var workAtHand: (() => unknown) | undefined;
}

// Only a script of its own can be stopped amid a loop or an expression.
const script = new Script('workAtHand()');

test.each(Object.entries(work))('a megabyte takes no time: %s', (_, run) => {
  globalThis.workAtHand = () => {
    try {
      run();
    } catch (error) {
      if (!(error instanceof BadValue || error instanceof BadFilter || error instanceof ApiError)) throw error;
    }
  };
  expect(() => script.runInThisContext({ timeout: patience })).not.toThrow();
});
