import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BadValue,
  durationParser,
  oneOfParser,
  parseApiKey,
  parseBaseUrl,
  parseBoolean,
  parseOperationId,
  urlWithoutSecrets,
} from '../../../../src/action/inputs/input-values.js';
import { refusal } from './refusal.js';

describe('durations', () => {
  test.each([
    ['0', /above 0/],
    ['0ms', /above 0/],
    ['25d', /at most 24 days/],
    ['577h', /at most 24 days/],
    ['9'.repeat(400), /at most 24 days/],
    ['soon', /such as 90s, 10m or 1h30m/],
  ])('%.10s is refused', (text, message) => {
    expect(refusal(() => durationParser()(text))).toMatch(message);
  });

  test('24 days are the most, 1 ms the least, and 0 only where it means something', () => {
    expect(durationParser()('24d')).toBe(24 * 86_400_000);
    expect(durationParser()('1ms')).toBe(1);
    expect(durationParser({ zero: true })('0')).toBe(0);
    expect(durationParser({ maxDays: 366 })('366d')).toBe(366 * 86_400_000);
    expect(refusal(() => durationParser({ maxDays: 366 })('367d'))).toMatch(/at most 366 days/);
  });
});

describe('booleans are those of YAML 1.2', () => {
  test.each(['true', 'True', 'TRUE'])('%s', (text) => expect(parseBoolean(text)).toBe(true));
  test.each(['false', 'False', 'FALSE'])('%s', (text) => expect(parseBoolean(text)).toBe(false));
  test.each(['yes', 'no', 'on', '1', '0', 'tRUE', '', 'null'])('%j is none', (text) => {
    expect(refusal(() => parseBoolean(text))).toMatch(/expected true or false/);
  });
});

test('a word that is nearly right gets the right one', () => {
  expect(refusal(() => oneOfParser(['empty', 'match'])('empy'))).toMatch(/expected empty, match.*did you mean empty\?/);
  expect(refusal(() => oneOfParser(['empty', 'match'])('xyzzy'))).not.toMatch(/did you mean/);
  expect(refusal(() => oneOfParser(['wait-operation'])('wait-operations'))).toMatch(/expected wait-operation/);
});

describe('operation ids', () => {
  test('any UUID is one, in lower case', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.boolean(), (id, capitals) => {
        expect(parseOperationId(capitals ? id.toUpperCase() : id)).toBe(id.toLowerCase());
      }),
    );
  });
  test.each([
    'null',
    'undefined',
    'None',
    'a07f8772-1877-4da9-a939-3a3ae62d1d8',
    'a07f8772-1877-4da9-a939-3a3ae62d1d8d1',
    'a07f877218774da9a9393a3ae62d1d8d',
    '{a07f8772-1877-4da9-a939-3a3ae62d1d8d}',
    'g07f8772-1877-4da9-a939-3a3ae62d1d8d',
    'a07f8772-1877-4da9-a939-3a3ae62d1d8d/..',
    'a07f8772-1877-4da9-a939-3a3ae62d1d8d\n',
    '',
  ])('%j is none', (text) => {
    refusal(() => parseOperationId(text));
  });
  test.each(['null', 'undefined', 'None'])('%s is what a broken step leaves', (text) => {
    expect(refusal(() => parseOperationId(text))).toMatch(/failed jq or template/);
  });
});

describe('api-key', () => {
  test('nothing gets its own message', () => {
    const said = refusal(() => parseApiKey(''));
    expect(said).toMatch(/fork/);
    expect(said).toMatch(/Dependabot/);
    expect(said).toMatch(/CTL_API_KEY/);
  });
  test.each(['two words', 'two\nlines', 'naïve', 'a\u200Bb', 'a\u0000'])('%j is no key, and is not shown', (text) => {
    try {
      parseApiKey(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(BadValue);
      if (!(error instanceof BadValue)) return;
      expect(error.hidesValue).toBe(true);
      expect(error.message).not.toContain(text);
    }
  });
});

describe('base-url', () => {
  test.each([
    'https://host.example/api/v2',
    'https://host.example/api/v2/',
    'https://host.example/api/v2///',
    'https://host.example:8443/v2',
    'HTTPS://host.example/v2',
    'https://[2001:db8::1]/v2',
    'http://localhost/v2',
    'http://LOCALHOST:8080/v2',
    'http://127.0.0.1:1/v2',
    'http://127.255.255.254/v2',
    'http://127.1/v2',
    'http://[::1]:3000/v2',
    'http://[0:0:0:0:0:0:0:1]/v2',
  ])('%s is taken', (text) => {
    expect(parseBaseUrl(text).href).toBe(new URL(text).href);
  });

  test.each([
    ['', /CTL_BASE_URL/],
    ['host.example/v2', /not a URL|scheme/],
    ['//host.example/v2', /not a URL/],
    ['ftp://host.example/v2', /expected https/],
    ['file:///etc/passwd', /expected https/],
    ['http://host.example/v2', /unencrypted/],
    ['http://128.0.0.1/v2', /unencrypted/],
    ['http://localhost.example/v2', /unencrypted/],
    ['http://127.0.0.1.example/v2', /unencrypted/],
    ['http://[::2]/v2', /unencrypted/],
    ['http://[::ffff:127.0.0.1]/v2', /unencrypted/],
    ['http://0.0.0.0/v2', /unencrypted/],
    ['https://user@host.example/v2', /user name or a password/],
    ['https://user:pass@host.example/v2', /user name or a password/],
    ['https://:pass@host.example/v2', /user name or a password/],
    ['https://host.example/v2?a=b', /query or a fragment/],
    ['https://host.example/v2?', /query or a fragment/],
    ['https://host.example/v2#', /query or a fragment/],
    ['https://host.example/v2#a', /query or a fragment/],
    ['https://', /not a URL/],
    ['https://host:99999/v2', /not a URL/],
    ['javascript:alert(1)', /expected https/],
  ])('%s is refused', (text, message) => {
    expect(refusal(() => parseBaseUrl(text))).toMatch(message);
  });

  // A URL parser takes all of these for a user name and a password.
  test.each([
    'https://user:hunter2@host.example/v2',
    'https://user:hunter2@host.example',
    'https://hunter2@host.example/v2',
    'https://user:hun@hunter2@host.example/v2',
    'https://user:hunter2?@host.example/v2',
    'https://user:a/hunter2@host.example/v2',
    'http://user:hunter2@[::1]/v2',
    'https:user:hunter2@host.example/v2',
    'https:/user:hunter2@host.example/v2',
    'https:\\\\user:hunter2@host.example/v2',
    'user:hunter2@host.example/v2',
    'https://host.example/v2?key=hunter2',
    'https://host.example/v2#hunter2',
  ])('no password of %s is shown', (text) => {
    expect(urlWithoutSecrets(text)).not.toContain('hunter2');
  });

  test('what is shown is still the URL', () => {
    expect(urlWithoutSecrets('https://host.example/v2')).toBe('https://host.example/v2');
    expect(urlWithoutSecrets('https://user:pass@host.example/v2')).toContain('host.example/v2');
  });

  test('a URL of plain http is taken for the machine itself alone', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['http'] }), (text) => {
        expect(() => parseBaseUrl(text)).toThrow(BadValue);
      }),
      { numRuns: 20 },
    );
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const taken = (() => {
          try {
            parseBaseUrl(`http://${address}/v2`);
            return true;
          } catch {
            return false;
          }
        })();
        expect(taken).toBe(address.startsWith('127.'));
      }),
    );
  });
});
