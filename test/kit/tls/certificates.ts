import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

// Of names and addresses that lead to the own machine alone, so they protect nothing. The key of their authority was thrown
// away. All are good for a hundred years, but for that which expired in 2020.
const fileOf = (name: string) => resolve(`test/kit/tls/test-only-${name}.pem`);
const pem = (name: string) => readFileSync(fileOf(name), 'utf8');

export const authorityFile = fileOf('authority');
export const authority = pem('authority');

const key = pem('key');

export const good = { key, cert: pem('service') };
export const expired = { key, cert: pem('expired') };
export const ofAnotherName = { key, cert: pem('elsewhere') };
