import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, type TestContext, test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import { reach } from './reach.js';
import { quickDice, sabotage } from './sabotage.js';
import { setSecureStage } from './secure-stage.js';
import { errorOf, setStage, withoutMasks } from './stage.js';
import { authorityFile, expired, good, ofAnotherName } from './tls/certificates.js';

const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };
const forever = { lengthMs: Number.POSITIVE_INFINITY };

for (const status of [400, 401, 403, 407, 410, 422]) {
  for (const [when, nth] of Object.entries({ 'at the first look': 1, 'after a good look': 2 })) {
    test.concurrent(`${status} ${when} is final`, async (context) => {
      const { service, projectId, run } = await setStage(context, {
        faults: [{ nth, fault: { kind: 'status', status } }],
      });
      const operation = service.plane.startOperation({ projectId, ...forever });

      const result = await run({ 'operation-id': operation.id, timeout: '30s' });

      expect(result.outputs).toMatchObject({ status: 'error' });
      expect(result.conclusion).toBe('failure');
      expect(service.requests).toHaveLength(nth);
      expect(errorOf(result)).toContain(`The service says ${status}.`);
      expect(errorOf(result)).toContain('code FAULT');
      expect(errorOf(result)).toMatch(/request id req-\d+/);
      expect(errorOf(result)).toContain(operation.id);
    });
  }
}

test.concurrent('a key that is not accepted is refused once, at a look at the list too', async (context) => {
  const { service, run } = await setStage(context);

  const result = await run({ 'operation-id': 'all', 'api-key': 'a-key-that-nobody-made' });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(service.requests).toHaveLength(1);
  expect(errorOf(result)).toMatch(/401.*api-key/s);
  expect(withoutMasks(result.output)).not.toContain('a-key-that-nobody-made');
});

test.concurrent('a key that is revoked meanwhile ends the wait', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, ...forever });
  const step = start({ 'operation-id': operation.id, timeout: '30s' });
  await reach(step, service.ended());
  service.plane.revokeKey('1');

  const result = await step.done;

  expect(result.outputs).toMatchObject({ status: 'error', 'operation-id': operation.id });
  expect(errorOf(result)).toMatch(/401/);
});

for (const status of [301, 302, 307]) {
  test.concurrent(`a redirect with ${status} to another origin is not followed`, async (context) => {
    const bystander = await startBystander(context);
    const { service, run } = await setStage(context, {
      faults: [{ fault: { kind: 'redirect', status, location: `${bystander.url}/login?token=of-somebody` } }],
    });

    const result = await run(anyId);

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(result.conclusion).toBe('failure');
    expect(errorOf(result)).toContain(`${bystander.url}/login`);
    expect(errorOf(result)).not.toContain('of-somebody');
    expect(service.requests).toHaveLength(1);
    expect(bystander.seen).toEqual([]);
  });
}

test.concurrent('a redirect to the own origin is not followed either', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const target = `/v2/projects/${projectId}/operations/${operation.id}`;
  service.faults.add({ nth: 1, fault: { kind: 'redirect', location: target } });

  const result = await run(anyId);

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toContain(`${new URL(service.baseUrl).origin}${target}`);
  expect(service.requests).toHaveLength(1);
});

test.concurrent('a redirect after a good look leads nowhere, and is no verdict', async (context) => {
  const bystander = await startBystander(context);
  const { service, projectId, run } = await setStage(context, {
    faults: [{ nth: 2, fault: { kind: 'redirect', location: bystander.url } }],
  });
  const operation = service.plane.startOperation({ projectId, lengthMs: 1_500 });

  const result = await run({ 'operation-id': operation.id });

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(bystander.seen).toEqual([]);
});

test.concurrent('a redirect without a target, and one to nonsense, end red', async (context) => {
  const { service, run } = await setStage(context, {
    faults: [
      { nth: 1, fault: { kind: 'status', status: 302 } },
      { nth: 2, fault: { kind: 'redirect', location: 'http://[' } },
    ],
  });

  const withoutTarget = await run(anyId);
  const toNonsense = await run(anyId);

  expect(errorOf(withoutTarget)).toMatch(/redirect/);
  expect(errorOf(toNonsense)).toMatch(/redirect/);
  expect(service.requests).toHaveLength(2);
});

const pages: Readonly<Record<string, Fault>> = {
  'HTML with 200': { kind: 'html' },
  'HTML with 401': { kind: 'html', status: 401 },
  'HTML with 503': { kind: 'html', status: 503 },
};

for (const [name, fault] of Object.entries(pages)) {
  for (const what of ['one id', 'all'] as const) {
    test.concurrent(`${name} in place of ${what} is called a page`, async (context) => {
      const { service, projectId, run } = await setStage(context, { faults: [{ fault }] });
      const operation = service.plane.startOperation({ projectId, lengthMs: 0 });

      const result = await run({ 'operation-id': what === 'all' ? what : operation.id }, { nodeArgs: quickDice });

      expect(result.outputs).toMatchObject({ status: 'error' });
      expect(result.conclusion).toBe('failure');
      expect(errorOf(result)).toMatch(/HTML page “Sign in”/);
      expect(errorOf(result)).toMatch(/proxy/);
      expect(errorOf(result)).toMatch(/login page/);
    });
  }
}

test.concurrent('a page without its content type is known too', async (context) => {
  const { run } = await setStage(context, {
    faults: [{ fault: { kind: 'status', status: 200, body: '\n<!DOCTYPE html><title>Guest network</title>Welcome' } }],
  });

  const result = await run(anyId, { nodeArgs: quickDice });

  expect(errorOf(result)).toMatch(/HTML page “Guest network”/);
});

for (const [name, body] of Object.entries({
  'an empty object': '{}',
  null: 'null',
  'an array': '[]',
  'a number': '200',
  'an operation without a status': '{"operation":{"id":"0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11"}}',
  'another operation':
    '{"operation":{"id":"11111111-5d3c-4b57-9a55-9a3a1f3d7c11","status":"finished","action":"create_branch"}}',
  'a finished operation of another project':
    '{"operation":{"id":"0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11","project_id":"other","status":"finished"}}',
})) {
  test.concurrent(`200 with ${name} proves nothing`, async (context) => {
    const { run } = await setStage(context, { faults: [{ fault: { kind: 'status', status: 200, body } }] });

    const single = await run(anyId, { nodeArgs: quickDice });
    const list = await run({ 'operation-id': 'all' }, { nodeArgs: quickDice });

    for (const result of [single, list]) {
      expect(result.outputs).toMatchObject({ status: 'error' });
      expect(result.conclusion).toBe('failure');
    }
    expect(errorOf(single)).toMatch(/`operation(\.\w+)?` should be/);
    expect(errorOf(list)).toMatch(/`operations` (should be an array|is missing: the body is (an array|not an object))/);
  });
}

test.concurrent('an authority that nobody knows is told, and how to make it known', async (context) => {
  const { service, run } = await setStage(context, { tls: good });

  const result = await run(anyId, { nodeArgs: quickDice });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/certificate/);
  expect(errorOf(result)).toMatch(/NODE_EXTRA_CA_CERTS/);
  expect(service.requests).toEqual([]);
});

for (const [name, tls, said] of [
  ['that has expired', expired, /certificate.*has expired/],
  ['for another name', ofAnotherName, /certificate.*another host name/],
] as const) {
  test.concurrent(`a certificate ${name} is not accepted`, async (context) => {
    const { service, run } = await setStage(context, { tls });

    const result = await run(anyId, { nodeArgs: quickDice, env: { NODE_EXTRA_CA_CERTS: authorityFile } });

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(said);
    expect(service.requests).toEqual([]);
  });
}

test.concurrent('https to a server that speaks http, and the other way round, end red and say something', async (context) => {
  const plain = await setStage(context);
  const secure = await setStage(context, { tls: good });

  const tooSecure = await plain.run(
    { ...anyId, 'base-url': plain.service.baseUrl.replace('http:', 'https:') },
    { nodeArgs: quickDice },
  );
  const tooPlain = await secure.run(
    { ...anyId, 'base-url': secure.service.baseUrl.replace('https:', 'http:') },
    { nodeArgs: quickDice },
  );

  for (const result of [tooSecure, tooPlain]) {
    expect(result.outputs).toMatchObject({ status: 'error' });
    // Not in the words of a library's source, with file and line.
    expect(errorOf(result)).toMatch(/GET \/v2\/projects\/.+: .{10}/);
    expect(errorOf(result)).not.toMatch(/\.c:\d+/);
    expect(errorOf(result)).toMatch(/base-url/);
  }
});

test.concurrent('a connection that is refused is told', async (context) => {
  const { run } = await setStage(context);

  // Nobody listens there; a port that was just given back could be that of another test.
  const result = await run({ ...anyId, 'base-url': 'http://127.0.0.1:1/v2' }, { nodeArgs: quickDice });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toContain('Connection refused by 127.0.0.1:1 (ECONNREFUSED)');
  expect(errorOf(result)).toMatch(/base-url/);
});

test.concurrent('a host name that nobody knows is told', async (context) => {
  const { run } = await setStage(context);

  const result = await run(
    { ...anyId, 'base-url': 'https://contrrol.test/v2' },
    { nodeArgs: [...quickDice, ...sabotage('control-test-is-here')] },
  );

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/host name contrrol\.test was not found/);
  expect(errorOf(result)).toMatch(/base-url/);
});

test.concurrent('one that cannot be looked up for real is told too', async (context) => {
  const { run } = await setStage(context);

  const result = await run({ ...anyId, 'base-url': 'https://does-not-exist.invalid/v2' }, { nodeArgs: quickDice });

  expect(result.outputs).toMatchObject({ status: 'error' });
  // Whether there is no such name, or nobody to ask, is up to the machine.
  expect(errorOf(result)).toMatch(
    /(host name does-not-exist\.invalid was not found|Could not look up the host name does-not-exist\.invalid)/,
  );
});

test.concurrent('the key goes to base-url alone, whatever a proxy or a redirect says', async (context) => {
  const bystander = await startBystander(context);
  const { service, proxy, runBehindProxy } = await setSecureStage(context, undefined, {
    faults: [{ nth: 2, fault: { kind: 'redirect', location: bystander.url } }],
  });
  const operation = service.plane.startOperation({ lengthMs: 1_000 });

  const result = await runBehindProxy({ 'operation-id': operation.id });

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(bystander.seen).toEqual([]);
  for (const { headers } of proxy.asked) expect(JSON.stringify(headers)).not.toContain(service.apiKey);
  for (const { headers } of service.requests) expect(headers['authorization']).toBe(`Bearer ${service.apiKey}`);
});

interface Bystander {
  readonly url: string;
  readonly seen: readonly IncomingMessage[];
}

/** Another origin, which must not hear of any of this. */
async function startBystander({ onTestFinished }: TestContext): Promise<Bystander> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    response.end('{"operation":{}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
