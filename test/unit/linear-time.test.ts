import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { BadValue, durationParser, oneOfParser, quote } from '../../src/action/inputs/input-values.js';
import { parseBaseUrl } from '../../src/action/inputs/inputs.js';
import { Secrets } from '../../src/action/secrets.js';
import { escapeCommands } from '../../src/action/toolkit.js';
import { rejectPartialList } from '../../src/api/paging.js';
import { parseResponse, UnexpectedShapeError } from '../../src/api/parse-response.js';
import { createRequest } from '../../src/api/request.js';
import { RequestError } from '../../src/http/errors.js';
import type { HttpRequest } from '../../src/http/exchange.js';
import { Rate } from '../../src/http/rate.js';
import { parseRetryAfter } from '../../src/http/retry-after.js';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { parseFilter } from '../../src/modes/list/filter.js';
import { parseKeyIds } from '../../src/modes/revoke-key/settings.js';
import { sweepKeysReport } from '../../src/modes/sweep-keys/report.js';
import { parseOperationIds } from '../../src/modes/wait-operation/settings.js';
import { sanitizeLine } from '../../src/text/sanitize-line.js';
import { DeadlineExceeded } from '../../src/time/deadline.js';
import { operationId as id } from '../kit/inputs.js';
import { VirtualClock } from '../virtual/clock.js';
import { silent } from '../virtual/silent.js';

// Linear work on a megabyte takes milliseconds, quadratic work a quarter of an hour. Nothing lies in between.
const megabyte = 1_000_000;
const limitMs = 20_000;
const of = (unit: string, end = '') => unit.repeat(Math.ceil(megabyte / unit.length)) + end;

const url = new URL('https://control.test/v2/projects');
const request: HttpRequest = { method: 'GET', url, headers: {}, maxBytes: 0 };
const respond = (status: number) => (body: string) =>
  parseResponse(request, { status, headers: {}, body }, 0, () => undefined);
const parseNames = (text: string) => parseFilter(text, ['name', 'region_id']);
const admits = (pattern: string) => (name: string) => parseNames(`name=${pattern}`).admits({ name });
const parseDelay = (value: string) => parseRetryAfter({ 'retry-after': value }, 0);
const redact = (secret: string) => (text: string) => {
  const secrets = new Secrets(() => undefined);
  for (const value of [secret, `${secret}2`]) secrets.add(value);
  return secrets.redact(text);
};
const rate = new Rate(new VirtualClock(), Math.random);
const connection = { exchange: () => Promise.reject(), log: silent, apiKey: 'a-key', rate };
const requestTo = (address: string) =>
  createRequest({ ...request, path: '' }, { ...connection, baseUrl: parseBaseUrl(address) });

/** A sweep whose deadline came before all of its DELETEs. */
function reportSweep(letters: string) {
  const run = { id: '7', attempt: 1, fingerprint: '' };
  const ids = Array.from(letters, (_, n) => String(n));
  const key = (id: string) => ({ id, name: 'shop', createdAt: 0, isRevoked: false, record: {} });
  const decisions = ids.map((id) => ({ key: key(id), run, isKept: false, isOver: true, age: 0, reason: '' }));
  const failure = new DeadlineExceeded();
  const keys = ids.map((id) => ({ id, label: id, fate: 'unknown', failure }) as const);
  const settings = { run, olderThan: 0, dryRun: false, failOnMatch: true, repository: '', githubToken: '' };
  const result = { decisions, revocation: { keys, end: failure }, failures: [] };
  return sweepKeysReport(result, settings, { timeout: 1, nowMs: 0 });
}

test.for<readonly [what: string, parse: (text: string) => unknown, texts: readonly string[]]>([
  ['a duration', durationParser(), [of('9'), of('9', 'x'), of('1h1m1s'), `1d${of('9')}h${of('9')}`]],
  ['a choice of two words', oneOfParser(['empty', 'match']), [of('empt')]],
  ['a key id', parseKeyIds, [of('9'), of('0', '7')]],
  ['a list of ids', parseOperationIds, [of(`${id},`), of(','), of(' \n', '{'), of(`${id} ,\n\t, `)]],
  ['an array of ids', parseOperationIds, [`[${of(`"${id}",`)}"${id}"]`, of('['), `[${of('12345678901234567890,')}1]`]],
  ['a base-url', requestTo, [`https://h/${of('/', 'x')}`, `https://h/${of('/')}`]],
  [
    'an invalid value that is quoted',
    (text) => quote(text),
    [of(':/'), of(':/', '@'), of('a@', '?'), `https://${of('a.')}@`],
  ],
  ['a server URL', (text) => repositoryFingerprint(text, 'a/b'), [`https://h${of('/', 'x')}`]],
  ['a filter', parseNames, [of('\n'), of('name'), of(' ', '=x'), of('='), of('name=*\n'), `name=${of('*?')}`]],
  ['a value to match with stars', admits('a*a*a*a*a*a*b'), [of('a')]],
  // With hundreds of steps for each character, this many take more than half a minute.
  ['a value to match with a long pattern', admits(`*${'a'.repeat(252)}b*`), ['a'.repeat(40 * megabyte)]],
  ['a line to sanitize', sanitizeLine, [of('\u001b['), of('\u001b]8;;'), of('\u202E'), of(' ', 'x')]],
  ['log text', escapeCommands, [of('\n'), of('\u2028'), of(' \t\u0085'), of(':'), of('##['), of('#')]],
  ['an error body', respond(500), [of('<title'), of(' ', '<html>'), of('"request_id" : ')]],
  ['a body', respond(200), [of(' '), of('"'), of('1'), of('-'), `"${of('\\\\')}"`]],
  ['a Retry-After header', parseDelay, [of('9', 'x'), of(' ', 'x'), of('(', ' GMT')]],
  ['a key name', parseKeyName, [of('-'), of('a-run1-1-')]],
  ['a text without a secret', redact('aaaaaaaab'), [of('a')]],
  ['a text full of secrets', redact('aaaaaaaa'), [of('a')]],
  ['a text full of beginnings of a secret', redact('aaaaaaaaab'), [of('a'), of('a…'), of('aaaaaaaa…')]],
  ['the keys of a sweep', reportSweep, ['k'.repeat(300_000)]],
  ['a Link header', (link) => rejectPartialList([], { link }), [of('<'), of(';a="b'), of('; rel')]],
])('a huge text is read in linear time as %s', ([, parse, texts]) => {
  for (const text of texts) {
    const work = () => {
      try {
        parse(text);
      } catch (error) {
        const isExpected = [BadValue, RequestError, UnexpectedShapeError].some((expected) => error instanceof expected);
        if (!isExpected) throw error;
      }
    };
    // Only a script can be stopped inside a loop or a regular expression.
    expect(() => runInNewContext('work()', { work }, { timeout: limitMs })).not.toThrow();
  }
});
