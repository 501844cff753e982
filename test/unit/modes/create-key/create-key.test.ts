import { describe, expect, it } from 'vitest';
import { ControlApi } from '../../../../src/api/control-api.js';
import { silent } from '../../../../src/api/log.js';
import type { Exchange, HttpResponse } from '../../../../src/http/exchange.js';
import { parseKeyName } from '../../../../src/keys/key-name.js';
import { type CreateKeyResult, createKey } from '../../../../src/modes/create-key/create-key.js';
import { Cancellation, Deadline } from '../../../../src/time/deadline.js';
import { seededRandom } from '../../../control-plane/random.js';
import { VirtualClock } from '../../../virtual/clock.js';

const run = { id: '9000', attempt: 2, fingerprint: 'abcdefghij' };

interface Service {
  /** The response to each create. */
  readonly create: Partial<HttpResponse>;
  readonly keys?: (name: string) => readonly object[];
  readonly listHeaders?: HttpResponse['headers'];
  readonly revoke?: Partial<HttpResponse>;
}

/** One create in virtual time, and the requests that it sent. */
async function create(
  { create, keys = () => [], listHeaders = {}, revoke = {} }: Service,
  revokeInPost = true,
): Promise<CreateKeyResult & { readonly requests: readonly string[] }> {
  const requests: string[] = [];
  let name = '';
  const exchange: Exchange = async ({ method, url, body = '' }) => {
    requests.push(`${method} ${url.pathname}`);
    if (method === 'POST') name = JSON.parse(body).key_name;
    const answers = {
      GET: () => ({ headers: listHeaders, body: JSON.stringify(keys(name)) }),
      POST: () => create,
      DELETE: () => revoke,
    };
    return { status: 200, headers: {}, body: '{"revoked":true}', ...answers[method]() };
  };
  const clock = new VirtualClock();
  const access = { baseUrl: new URL('https://control.test/v2'), apiKey: 'a-parent-key', requestTimeout: 30_000 };
  const creating = createKey(
    { label: 'shop', run, revokeInPost, onRevokeFailure: 'warn', exportTo: undefined },
    {
      api: new ControlApi(exchange, access, silent),
      deadline: new Deadline(clock, 600_000, new Cancellation()),
      log: silent,
      random: seededRandom(1),
    },
    { mask: () => undefined, save: () => undefined },
  );
  return { ...(await clock.run(creating)), requests };
}

const usable = { body: '{"id":5,"key":"a-minted-key"}' };
const lost = { status: 500, body: '' };

describe('at most 5 creates that may have taken effect are sent', () => {
  it.each<[string, Partial<HttpResponse>]>([
    ['a 500', lost],
    ['an unusable response', { body: '{"id":5,"key":"1234567"}' }],
    ['a page with 429', { status: 429, headers: { 'content-type': 'text/html' }, body: '<html>Slow down</html>' }],
    ['a page with 423', { status: 423, headers: { 'content-type': 'text/html' }, body: '<html>Locked</html>' }],
  ])('if each gets %s', async (_, answer) => {
    const { minted, mayHaveStrayKey: unclear, requests } = await create({ create: answer });
    expect(minted).toBeUndefined();
    expect(unclear).toBe(true);
    expect(requests.filter((request) => request.startsWith('POST'))).toHaveLength(5);
  });
});

it('the name of a key says before the request whether the key is kept on purpose', async () => {
  for (const revokeInPost of [true, false]) {
    const { name } = await create({ create: usable }, revokeInPost);
    expect(parseKeyName(name)).toEqual({ run, isKept: !revokeInPost });
  }
});

describe('after an ambiguous create', () => {
  const link = { link: '</v2/api_keys?page=2>; rel="next"' };

  it('a list that announces more proves nothing: no second create follows', async () => {
    const created = await create({ create: lost, listHeaders: link });
    expect(created.requests).toEqual(['POST /v2/api_keys', 'GET /v2/api_keys']);
    expect(created).toMatchObject({
      mayHaveStrayKey: true,
      failure: { message: expect.stringMatching(/announces more keys than it contains/) },
    });
  });

  it('a Retry-After of a 503 that ends after the deadline ends the step at once', async () => {
    const asksForAnHour = { status: 503, headers: { 'retry-after': '3600' }, body: '' };
    const created = await create({ create: asksForAnHour });
    expect(created.requests).toEqual(['POST /v2/api_keys']);
    expect(created).toMatchObject({ mayHaveStrayKey: true, failure: { message: /wait 1h, but only 10m/ } });
  });

  it('a key that such a list shows is revoked all the same', async () => {
    const keys = (name: string) => [{ id: 5, name }];
    const { requests, mayHaveStrayKey: unclear } = await create({ create: lost, listHeaders: link, keys });
    expect(requests).toEqual(['POST /v2/api_keys', 'GET /v2/api_keys', 'DELETE /v2/api_keys/5']);
    expect(unclear).toBe(true);
  });

  it('a key whose id got another name meanwhile is gone, and the other key is not touched again', async () => {
    let reads = 0;
    const keys = (name: string) => [{ id: 5, name: reads++ === 0 ? name : 'of another tool' }];
    const { requests } = await create({ create: lost, keys, revoke: { status: 404, body: '' } });
    expect(requests.slice(0, 4)).toEqual([
      'POST /v2/api_keys',
      'GET /v2/api_keys',
      'DELETE /v2/api_keys/5',
      'GET /v2/api_keys',
    ]);
    expect(requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(1);
    expect(requests.filter((request) => request.startsWith('POST'))).toHaveLength(5);
  });
});
