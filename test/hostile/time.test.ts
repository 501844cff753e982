import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import {
  BadValue,
  durationParser,
  oneOfParser,
  parseBaseUrl,
  parseKeyId,
  urlWithoutSecrets,
} from '../../src/action/inputs/input-values.js';
import { codeHtml } from '../../src/action/markdown.js';
import { Secrets } from '../../src/action/secrets.js';
import { escapeCommands } from '../../src/action/toolkit.js';
import { ControlApi } from '../../src/api/control-api.js';
import { announcesMore } from '../../src/api/keys.js';
import { silent } from '../../src/api/log.js';
import { parseResponse } from '../../src/api/parse-response.js';
import { RequestError } from '../../src/http/errors.js';
import type { HttpRequest } from '../../src/http/exchange.js';
import { parseRetryAfter } from '../../src/http/retry-after.js';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { BadFilter, parseFilter } from '../../src/modes/list/filter.js';
import { parseOperationIds } from '../../src/modes/wait-operation/settings.js';
import { parseJson, printJson } from '../../src/text/json.js';
import { sanitizeLine } from '../../src/text/sanitize-line.js';
import { nearest } from '../../src/text/sentences.js';

/** Linear work on a megabyte takes milliseconds, work by its square a quarter of an hour: nothing lies in between. */
const megabyte = 1_000_000;
const patience = 20_000;
/** For what takes, as it is allowed to, hundreds of steps a letter. */
const tenth = megabyte / 10;

const of = (unit: string, end = '') => unit.repeat(Math.ceil(megabyte / unit.length)) + end;
const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const request: HttpRequest = {
  method: 'GET',
  url: new URL('https://control.test/v2/projects'),
  headers: {},
  maxBytes: 0,
};
const answer =
  (body: string, status = 500) =>
  () =>
    parseResponse(request, { status, headers: {}, body }, 0, () => undefined);
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
  'a duration of digits': () => durationParser()(of('9')),
  'a duration of digits without its unit': () => durationParser()(of('9', 'x')),
  'a duration of all its units, again and again': () => durationParser()(of('1h1m1s')),
  'a duration that ends too early': () => durationParser()(`1d${of('9')}h${of('9')}`),
  'words to choose from': () => oneOfParser(['empty', 'match'])(of('empt')),
  'a word that is near to none': () => nearest(of('projec'), ['project_id', 'branch_id']),
  'the digits of a key': () => parseKeyId(of('9')),
  'zeros before the digits of a key': () => parseKeyId(of('0', '7')),
  'ids by commas': () => parseOperationIds(of(`${id},`)),
  'nothing but commas': () => parseOperationIds(of(',')),
  'nothing but blanks and line ends': () => parseOperationIds(of(' \n', '{')),
  'ids by everything': () => parseOperationIds(of(`${id} ,\n\t, `)),
  'an array of ids': () => parseOperationIds(`[${of(`"${id}",`)}"${id}"]`),
  'an array that never ends': () => parseOperationIds(of('[')),
  'an array of long integers': () => parseOperationIds(`[${of('12345678901234567890,')}1]`),
  'an address with slashes inside': () => controlApi(`https://h/${of('/', 'x')}`),
  'an address with slashes at its end': () => controlApi(`https://h/${of('/')}`),
  'an address of at signs': () => urlWithoutSecrets(of('a@', '?')),
  'an address with no end of a scheme': () => urlWithoutSecrets(of('a')),
  'a server with slashes inside': () => repositoryFingerprint(`https://h${of('/', 'x')}`, 'a/b'),
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
  'colours without end': () => sanitizeLine(of('\u001b[')),
  'links of a terminal without end': () => sanitizeLine(of('\u001b]8;;')),
  'marks of direction': () => sanitizeLine(of('\u202E')),
  'blanks to be cut': () => sanitizeLine(of(' ', 'x')),
  'line ends in the log': () => escapeCommands(of('\n')),
  'other line ends in the log': () => escapeCommands(of('\u2028')),
  'blanks in the log': () => escapeCommands(of(' \t\u0085')),
  'colons in the log': () => escapeCommands(of(':')),
  'old commands in the log': () => escapeCommands(of('##[')),
  'sharps in the log': () => escapeCommands(of('#')),
  'signs of HTML': () => codeHtml(of('<&"')),
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
  'a Retry-After of digits': () => parseRetryAfter({ 'retry-after': of('9', 'x') }, 0),
  'a Retry-After of blanks': () => parseRetryAfter({ 'retry-after': of(' ', 'x') }, 0),
  'a Retry-After like a date': () => parseRetryAfter({ 'retry-after': of('(', ' GMT') }, 0),
  'a name of hyphens': () => parseKeyName(of('-')),
  'a name of runs': () => parseKeyName(of('a-run1-1-')),
  'targets of links that never end': () => announcesMore({ link: of('<') }),
  'parameters of a link': () => announcesMore({ link: of(';a="b') }),
  'words of a link': () => announcesMore({ link: of('; rel') }),
  'a secret that is nearly everywhere': redact('aaaaaaaab', of('a')),
  'a secret that is everywhere': redact('aaaaaaaa', of('a')),
};

function controlApi(address: string): ControlApi {
  const access = { baseUrl: parseBaseUrl(address), apiKey: 'a-key', requestTimeout: 1 };
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
      if (!(error instanceof BadValue || error instanceof BadFilter || error instanceof RequestError)) throw error;
    }
  };
  expect(() => script.runInThisContext({ timeout: patience })).not.toThrow();
});
