import { Agent } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Clock,
  type Fault,
  ManualClock,
  type RunningControlPlane,
  type ServedControlPlaneOptions,
  startControlPlane,
} from '../../control-plane/index.js';
import { authority, good } from '../../scenarios/tls/certificates.js';
import { type Fetch, fetchRaw, json, type Seen } from './asking.js';

const connectionLost = /^(socket hang up|read ECONNRESET|write EPIPE)$/;

const running: RunningControlPlane[] = [];

async function start(options: ServedControlPlaneOptions = {}): Promise<RunningControlPlane> {
  const service = await startControlPlane(options);
  running.push(service);
  return service;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});

function get(service: RunningControlPlane, path: string, options: Fetch = {}): Promise<Seen> {
  return fetchRaw(service.baseUrl + path, { key: service.apiKey, ...options });
}

function create(service: RunningControlPlane, name: string, options: Fetch = {}): Promise<Seen> {
  const body = JSON.stringify({ key_name: name });
  return get(service, '/api_keys', { method: 'POST', headers: json, body, ...options });
}

/** Lets no one wait, and remembers how long they would have. */
function hastyClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => 0,
    schedule(delayMs, callback) {
      waits.push(delayMs);
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    },
  };
}

describe('over sockets', () => {
  it('serves the API, with lengths, and logs', async () => {
    const service = await start({ apiKey: 'secret', projects: 2 });
    expect(service.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v2$/);
    const seen = await get(service, '/projects');
    expect(JSON.parse(seen.body).projects.map(({ id }: { id: string }) => id)).toEqual(service.projectIds);
    expect(seen.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(seen.body.length),
      'x-request-id': expect.any(String),
    });
    expect((await create(service, 'na\u00efve')).status).toBe(200);
    expect(service.plane.aliveKeys('na\u00efve')).toHaveLength(1);
    await service.ended({ n: 2 });
    expect(service.requests).toMatchObject([
      { n: 1, endpoint: 'list-projects', method: 'GET', path: '/v2/projects', keyId: '1', status: 200 },
      {
        n: 2,
        endpoint: 'create-key',
        method: 'POST',
        body: '{"key_name":"na\u00efve"}',
        status: 200,
        fault: undefined,
      },
    ]);
    expect(service.requests[0]?.headers['authorization']).toBe('Bearer secret');
    const [, created] = JSON.parse((await get(service, '/api_keys')).body);
    expect(created.name).toBe('na\u00efve');
    expect(service.plane.key('1')?.lastUsedFrom).toBe('127.0.0.1');
  });

  it.each([
    ['close', 'socket hang up'],
    ['reset', 'read ECONNRESET'],
  ] as const)('cuts TLS by %s', async (by, error) => {
    const service = await start({ tls: good, faults: [{ fault: { kind: 'cut-before-headers', by } }] });
    expect(await get(service, '/projects', { ca: authority })).toMatchObject({ status: undefined, error });
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
  it.runIf(hasIpv6)('listens on ::1', async () => {
    const service = await start({ host: '::1' });
    expect(service.baseUrl).toMatch(/^http:\/\/\[::1\]:\d+\/v2$/);
    expect((await get(service, '/projects')).status).toBe(200);
  });

  it('fails to start on a port that is taken', async () => {
    const { baseUrl } = await start();
    await expect(start({ port: Number(new URL(baseUrl).port) })).rejects.toThrow('EADDRINUSE');
  });
});

describe('a fault', () => {
  const cases: [Fault, Partial<Seen>][] = [
    [{ kind: 'cut-before-headers' }, { status: undefined, error: 'socket hang up' }],
    [
      { kind: 'cut-before-headers', by: 'reset' },
      { status: undefined, error: 'read ECONNRESET' },
    ],
    [
      { kind: 'cut-mid-body' },
      { status: 200, body: expect.stringMatching(/^{"projects":\[.*[^}]$/), error: 'aborted' },
    ],
    [
      { kind: 'cut-mid-body', framing: 'chunked' },
      { status: 200, error: 'aborted' },
    ],
    [
      { kind: 'cut-mid-body', by: 'reset' },
      { status: 200, error: 'aborted' },
    ],
    [{ kind: 'bad-json' }, { status: 200, body: expect.stringMatching(/]<$/), error: undefined }],
    [{ kind: 'empty-body' }, { status: 200, body: '', error: undefined }],
    [{ kind: 'html' }, { status: 200, body: expect.stringContaining('<!DOCTYPE html>') }],
    [
      { kind: 'redirect', location: 'http://127.0.0.1:9/' },
      { status: 302, headers: expect.objectContaining({ location: 'http://127.0.0.1:9/' }) },
    ],
    [
      { kind: 'status', status: 503, headers: { 'x-more': 'yes' }, body: 'busy' },
      {
        status: 503,
        headers: expect.objectContaining({ 'x-more': 'yes', 'x-request-id': expect.any(String) }),
        body: 'busy',
      },
    ],
    [
      { kind: 'status', status: 429, retryAfter: { seconds: 7 } },
      {
        status: 429,
        headers: expect.objectContaining({ 'retry-after': '7' }),
        body: expect.stringContaining('"code"'),
      },
    ],
    [
      { kind: 'status', status: 429, retryAfter: { dateInSeconds: 90 } },
      {
        headers: expect.objectContaining({
          date: 'Mon, 01 Jan 2024 00:00:00 GMT',
          'retry-after': 'Mon, 01 Jan 2024 00:01:30 GMT',
        }),
      },
    ],
  ];
  it.each(cases)('%j, and the next exchange is sound', async (fault, expected) => {
    const service = await start({ clock: new ManualClock(), faults: [{ nth: 1, fault }] });
    expect(await get(service, '/projects')).toMatchObject(expected);
    await service.ended();
    expect(service.requests[0]).toMatchObject({
      fault: fault.kind,
      status: expected.status ?? service.requests[0]?.status,
    });
    expect(await get(service, '/projects')).toMatchObject({ status: 200, error: undefined });
  });

  it('delay: by the clock', async () => {
    const clock = new ManualClock();
    const service = await start({ clock, faults: [{ fault: { kind: 'delay', ms: 3000 } }] });
    const seen = get(service, '/projects');
    await service.arrived();
    clock.advance(2999);
    expect([clock.pending, service.requests[0]?.status]).toEqual([1, undefined]);
    clock.advance(1);
    expect((await seen).status).toBe(200);
  });

  it('drip: the whole answer, a character an interval', async () => {
    const clock = hastyClock();
    const service = await start({ clock, faults: [{ fault: { kind: 'drip', intervalMs: 1000 } }] });
    const { body, error } = await get(service, '/api_keys');
    expect(error).toBeUndefined();
    expect(JSON.parse(body)).toHaveLength(1);
    expect(clock.waits).toEqual(Array.from(body, () => 1000));
  });

  it.each(['hang-before-headers', 'hang-mid-body'] as const)('%s: until the client gives up', async (kind) => {
    const service = await start({ faults: [{ fault: { kind } }] });
    const leave = new AbortController();
    const seen = get(service, '/projects', {
      signal: leave.signal,
      onProgress: (body) => body.length > 0 && leave.abort(),
    });
    await service.arrived();
    if (kind === 'hang-before-headers') leave.abort();
    expect(await seen).toMatchObject({ status: kind === 'hang-mid-body' ? 200 : undefined, error: expect.any(String) });
    await service.ended();
  });

  it('endless-body: as long as the client reads', async () => {
    const service = await start({ faults: [{ fault: { kind: 'endless-body' } }] });
    const leave = new AbortController();
    const enough = 4_000_000;
    const seen = await get(service, '/projects', {
      signal: leave.signal,
      onProgress: (body) => body.length > enough && leave.abort(),
    });
    expect(seen.body.length).toBeGreaterThan(enough);
    expect(seen.headers['transfer-encoding']).toBe('chunked');
    await service.ended();
  });

  it('close-on-next-request: the next request on the socket is lost, a new socket is sound', async () => {
    const service = await start({ faults: [{ nth: 1, fault: { kind: 'close-on-next-request' } }] });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await get(service, '/projects', { agent })).status).toBe(200);
    expect(await create(service, 'lost', { agent })).toMatchObject({
      status: undefined,
      error: expect.stringMatching(connectionLost),
    });
    expect(service.requests[1]).toMatchObject({
      endpoint: 'create-key',
      status: undefined,
      fault: 'closed-on-arrival',
    });
    expect(service.plane.aliveKeys('lost')).toEqual([]);
    expect((await create(service, 'sound', { agent })).status).toBe(200);
    agent.destroy();
  });
});

describe('a change whose answer is lost', () => {
  it('was done, or not, or not with that status', async () => {
    const service = await start();
    const lost: Fault[] = [
      { kind: 'cut-before-headers' },
      { kind: 'cut-before-headers', done: 'never' },
      { kind: 'status', status: 500 },
      { kind: 'status', status: 500, done: 'now' },
    ];
    const made: boolean[] = [];
    for (const [index, fault] of lost.entries()) {
      service.faults.add({ endpoint: 'create-key', fault, count: 1 });
      await create(service, `key-${index}`);
      made.push(service.plane.aliveKeys(`key-${index}`).length === 1);
    }
    expect(made).toEqual([true, false, false, true]);
  });

  it.each<Fault>([
    { kind: 'cut-before-headers', done: { msAfterGivenUp: 3000 } },
    { kind: 'hang-before-headers', done: { msAfterGivenUp: 3000 } },
  ])('is done some time after the connection was given up: $kind', async (fault) => {
    const clock = new ManualClock();
    const service = await start({ clock, faults: [{ fault, count: 1 }] });
    const leave = new AbortController();
    const seen = create(service, 'late', { signal: leave.signal });
    await service.arrived();
    clock.advance(60_000);
    leave.abort();
    expect((await seen).status).toBeUndefined();
    await service.ended();
    const late = () => service.plane.aliveKeys('late').length;
    if (fault.kind === 'hang-before-headers') {
      clock.advance(2999);
      expect(late()).toBe(0);
    }
    clock.advance(3000);
    expect(late()).toBe(1);
  });

  it('a revocation is done, though the client does not learn it', async () => {
    const service = await start({ faults: [{ endpoint: 'revoke-key', fault: { kind: 'cut-before-headers' } }] });
    const { id, key } = service.plane.addKey('minted');
    expect((await get(service, `/api_keys/${id}`, { method: 'DELETE', key })).status).toBeUndefined();
    expect(service.plane.isAlive(id)).toBe(false);
    expect(service.requests[0]?.keyId).toBe(id);
  });
});

describe('waiting for exchanges', () => {
  it('resolves for those to come and for those that were', async () => {
    const service = await start();
    const second = service.arrived({ endpoint: 'list-keys', n: 2 });
    for (const path of ['/api_keys', '/projects', '/nothing', '/api_keys']) await get(service, path);
    expect((await second).n).toBe(4);
    expect((await service.arrived({ n: 3 })).endpoint).toBe('other');
    expect((await service.arrived({ path: 'proj' })).n).toBe(2);
    expect((await service.ended({ endpoint: 'list-projects' })).n).toBe(2);
  });
});

describe('closing', () => {
  it('ends hanging exchanges, idle sockets, timers and waiters at once', async () => {
    const clock = new ManualClock();
    const service = await start({
      clock,
      faults: [
        { endpoint: 'list-keys', fault: { kind: 'hang-mid-body' } },
        { endpoint: 'list-projects', fault: { kind: 'delay', ms: 1e9 } },
        { endpoint: 'create-key', fault: { kind: 'cut-before-headers', done: { msAfterGivenUp: 1e9 } } },
      ],
    });
    const agent = new Agent({ keepAlive: true });
    expect((await get(service, '/nothing', { agent })).status).toBe(404);
    await create(service, 'late');
    await service.ended({ endpoint: 'create-key' });
    const hanging = [get(service, '/api_keys'), get(service, '/projects')];
    await service.arrived({ endpoint: 'list-keys' });
    await service.arrived({ endpoint: 'list-projects' });
    const neverComing = service.arrived({ endpoint: 'revoke-key' });
    expect(clock.pending).toBe(2);
    await service.close();
    for (const seen of await Promise.all(hanging)) expect(seen.error).toBeDefined();
    await expect(neverComing).rejects.toThrow('closed');
    expect(clock.pending).toBe(0);
    agent.destroy();
  });
});
