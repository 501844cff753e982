import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

function pem(name: string): string {
  return readFileSync(fileOf(name), 'utf8');
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`test-only-${name}.pem`, import.meta.url));
}

/** For `NODE_EXTRA_CA_CERTS`. */
export const authorityFile = fileOf('authority');
export const authority = pem('authority');

const key = pem('key');

/** For the `tls` of a control plane. */
export const good = { key, cert: pem('service') };
export const expired = { key, cert: pem('expired') };
export const ofAnotherName = { key, cert: pem('elsewhere') };
