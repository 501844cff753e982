import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'vitest';

export interface Relay {
  readonly port: number;
  /** How many connections there have been. */
  readonly connections: number;
  /** Whoever is at the other end of the connections there are is gone, without a word: nothing is read, and nothing is closed. */
  vanish(): void;
}

/** Hands every connection on to `port`. */
export async function startRelay({ onTestFinished }: TestContext, port: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((near) => {
    connections++;
    const far = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    vanish: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}
