import { networkInterfaces } from 'node:os';

/** Whether this machine has the loopback of IPv6. */
export const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);
