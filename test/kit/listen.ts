import type { AddressInfo, Server, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { TestContext } from 'vitest';

export const hasIpv6 = JSON.stringify(networkInterfaces()).includes('"::1"');

/** Listens on loopback until the test ends, then closes all connections. Returns the port. */
export async function listen({ onTestFinished }: TestContext, server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}
