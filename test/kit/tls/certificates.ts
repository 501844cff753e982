import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const fileOf = (name: string) => resolve(`test/kit/tls/test-only-${name}.pem`);
const pem = (name: string) => readFileSync(fileOf(name), 'utf8');

/** For `NODE_EXTRA_CA_CERTS`. */
export const authorityFile = fileOf('authority');
export const authority = pem('authority');

const key = pem('key');

/** For the `tls` of a control plane. */
export const good = { key, cert: pem('service') };
export const expired = { key, cert: pem('expired') };
export const ofAnotherName = { key, cert: pem('elsewhere') };
