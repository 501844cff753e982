import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'vitest';

export interface MuteServer {
  readonly port: number;
  /** The first request, or what there is of it, has come. */
  readonly asked: Promise<void>;
}

/** Accepts every connection, and never says a word on it. */
export async function startMuteServer({ onTestFinished }: TestContext): Promise<MuteServer> {
  const sockets = new Set<Socket>();
  let tell = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', tell);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return { port: (server.address() as AddressInfo).port, asked };
}
