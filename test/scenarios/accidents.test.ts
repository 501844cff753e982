import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { sabotage } from './sabotage.js';
import { errorOf, setStage } from './stage.js';

test.concurrent('a crash while the result is being told leaves the step red', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });

  const result = await run({ 'operation-id': operation.id }, { nodeArgs: sabotage('body-ends-in-a-throw') });

  expect(result.exitCode).toBe(1);
  expect(errorOf(result)).toMatch(/sabotage at the end/);
});

test.concurrent('no line is lost where stdout takes its time', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });

  const result = await run({ 'operation-id': operation.id }, { nodeArgs: sabotage('slow-stdout') });

  expect(result.conclusion).toBe('success');
  expect(result.lines.at(-1)?.text).toMatch(/1 operation finished\./);
});

test.concurrent('SIGBREAK ends the step as cancelled', async (context) => {
  const { service, projectId, run } = await setStage(context, { faults: [{ fault: { kind: 'hang-before-headers' } }] });
  const operation = service.plane.startOperation({ projectId });

  const result = await run({ 'operation-id': operation.id }, { nodeArgs: sabotage('sigbreak') });

  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expect(result.exitCode).toBe(1);
});

test.concurrent('a body that is cut where it happens to be JSON proves nothing', async (context) => {
  const { projectId, run } = await setStage(context);
  const id = '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11';
  const body = JSON.stringify({ operation: { id, project_id: projectId, status: 'finished' } });
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length + 1}\r\n\r\n${body}`,
      ),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  context.onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };

  const result = await run({ 'operation-id': id, 'base-url': `http://127.0.0.1:${port}/v2`, timeout: '0' });

  expect(result.exitCode).toBe(1);
  expect(errorOf(result)).toMatch(/closed after \d+ bytes/);
});

test.concurrent('the looks of a wait share one connection', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY });
  const seen = new Set<string>();
  // In between stands a plain relay that counts connections.
  const relay = createServer((socket) => {
    const { hostname, port } = new URL(service.baseUrl);
    const onward = connect(Number(port), hostname);
    seen.add(`${socket.remotePort}`);
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening));
  context.onTestFinished(() => void relay.close());
  const { port } = relay.address() as { port: number };
  const step = start({
    'operation-id': operation.id,
    'base-url': service.baseUrl.replace(/:\d+/, `:${port}`),
    'poll-interval': '50ms',
  });
  await service.ended({ endpoint: 'get-operation', n: 4 });
  service.plane.endOperation(operation);
  const result = await step.done;

  expect(result.conclusion).toBe('success');
  expect(seen.size).toBe(1);
});

test.concurrent('a body of a megabyte is read', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0, fields: { note: 'x'.repeat(1_000_000) } });

  const result = await run({ 'operation-id': operation.id });

  expect(result.outputs).toMatchObject({ status: 'finished' });
});

test.concurrent('a body larger than an operation can be is refused, and not asked for again', async (context) => {
  const { run } = await setStage(context);
  let asked = 0;
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const server = createHttpServer((_, response) => {
    asked += 1;
    let sent = 0;
    const send = (): void => {
      while (sent < 260 && !response.destroyed) {
        sent += 1;
        if (!response.write(chunk)) {
          response.once('drain', send);
          return;
        }
      }
      if (!response.destroyed) response.end('{}');
    };
    send();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  context.onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };

  const result = await run({
    'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11',
    'base-url': `http://127.0.0.1:${port}/v2`,
  });

  expect(errorOf(result)).toMatch(/larger than the maximum of 1 MiB/);
  expect(asked).toBe(1);
});

test.concurrent('the one look of timeout: 0 has all of request-timeout', async (context) => {
  const { service, projectId, run } = await setStage(context, { faults: [{ fault: { kind: 'delay', ms: 1_500 } }] });
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });

  const result = await run({ 'operation-id': operation.id, timeout: '0', 'request-timeout': '10s' });

  expect(result.outputs).toMatchObject({ status: 'finished' });
});
