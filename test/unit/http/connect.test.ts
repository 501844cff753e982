import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { agentFor, connectToFirst } from '../../../src/http/connect.js';
import { VirtualClock } from '../../virtual/clock.js';

/** After how many milliseconds an address accepts the connection or refuses it. One without an entry never does. */
type Hosts = Readonly<Record<string, { readonly accepts?: number; readonly refuses?: number }>>;

function network(hosts: Hosts) {
  const clock = new VirtualClock();
  const tried: { readonly address: string; readonly at: number }[] = [];
  const sockets = new Map<string, Socket>();
  const connect = (address: string): Socket => {
    tried.push({ address, at: clock.now() });
    const socket = new Socket();
    sockets.set(address, socket);
    const { accepts, refuses } = hosts[address] ?? {};
    if (accepts !== undefined) clock.schedule(clock.now() + accepts, () => socket.emit('connect'));
    if (refuses !== undefined) clock.schedule(clock.now() + refuses, () => socket.destroy(new Error(`no ${address}`)));
    return socket;
  };
  const connected = async (addresses: readonly string[], signal?: AbortSignal) => {
    const socket = await clock.run(connectToFirst(addresses, connect, clock, signal));
    const [address] = [...sockets].find(([, candidate]) => candidate === socket) ?? [];
    return { address, at: clock.now() };
  };
  const open = () => [...sockets].filter(([, socket]) => !socket.destroyed).map(([address]) => address);
  return { clock, connected, tried, open };
}

test.for<[what: string, hosts: Hosts, used: string, at: number, triedAt: number[]]>([
  ['no other address is tried if the first one accepts at once', { a: { accepts: 0 }, b: { accepts: 0 } }, 'a', 0, [0]],
  ['after 250 ms of silence, the next address is tried', { a: {}, b: { accepts: 60_000 } }, 'b', 60_250, [0, 250]],
  ['a slow address is used', { a: { accepts: 60_000 }, b: {}, c: {} }, 'a', 60_000, [0, 250, 500]],
  ['the next address is tried at once if one refuses', { a: { refuses: 10 }, b: { accepts: 10 } }, 'b', 20, [0, 10]],
  ['a late refusal ends no other attempt', { a: { refuses: 400 }, b: { accepts: 60_000 } }, 'b', 60_250, [0, 250]],
])('%s', async ([, hosts, used, at, triedAt]) => {
  const { connected, tried, open } = network(hosts);
  const addresses = Object.keys(hosts);
  expect(await connected(addresses)).toEqual({ address: used, at });
  expect(tried).toEqual(triedAt.map((time, n) => ({ address: addresses[n], at: time })));
  expect(open()).toEqual([used]);
});

test('connection attempts alternate between IPv6 and IPv4', async () => {
  const { connected, tried } = network({ '192.0.2.2': { accepts: 0 } });
  await connected(['2001:db8::1', '2001:db8::2', '2001:db8::3', '192.0.2.1', '192.0.2.2']);
  expect(tried.map(({ address }) => address)).toEqual(['2001:db8::1', '192.0.2.1', '2001:db8::2', '192.0.2.2']);
});

test('one failed address throws its own error, and several failed addresses throw an AggregateError', async () => {
  const hosts: Hosts = { a: { refuses: 0 }, b: { refuses: 0 } };
  await expect(network(hosts).connected(['a'])).rejects.toEqual(new Error('no a'));
  const both = new AggregateError([new Error('no a'), new Error('no b')]);
  await expect(network(hosts).connected(['a', 'b'])).rejects.toEqual(both);
});

test('an abort ends all connection attempts, and no attempt starts after it', async () => {
  const { clock, connected, tried, open } = network({});
  const controller = new AbortController();
  clock.schedule(300, () => controller.abort());
  await expect(connected(['a', 'b', 'c'], controller.signal)).rejects.toThrow('aborted');
  await expect(connected(['d'], controller.signal)).rejects.toThrow('aborted');
  expect(tried.map(({ address }) => address)).toEqual(['a', 'b']);
  expect(open()).toEqual([]);
});

test.each(['http:', 'https:'])('the agent for %s URLs uses keep-alive only if requested', (protocol) => {
  const names = { addresses: async () => [], close: () => undefined };
  expect(agentFor(protocol, names, true)).toMatchObject({ keepAlive: true });
  expect(agentFor(protocol, names, false)).toMatchObject({ keepAlive: false });
});
