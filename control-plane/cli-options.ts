import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { parseArgs } from 'node:util';
import { oneOf, outcomes, parseNumber } from './control.js';
import { parseFault } from './fault-notation.js';
import type { ServedControlPlaneOptions } from './index.js';

export const help = `A control API to test workflows with; docs/control-plane.md describes it. The first line on stdout is JSON with the
addresses and the key; each request is a line on stderr.

  --host ADDRESS             where to listen (127.0.0.1)
  --port N                   0: any that is free (0)
  --tls-key FILE             PEM; with --tls-cert, the service speaks TLS
  --tls-cert FILE            PEM
  --api-key KEY              the key to accept (made from the seed)
  --projects N               number of projects (3)
  --operations N             number of past operations in each project (20)
  --page-size N              most operations in one response (100)
  --operation-seconds N      how long an operation takes (5)
  --operation-outcome WORD   how an operation ends: ${outcomes.join(' or ')} (finished)
  --rate N                   requests a second; more get a 429 (no limit)
  --burst N                  requests at once after a pause, with --rate (40)
  --fault RULE               a fault from the start; can be repeated
  --seed N                   the same seed gives the same data and the same chances (1)
  --help
`;

/** Undefined when help is asked for; throws an Error that says what is wrong. */
export function parseCliOptions(argv: readonly string[]): ServedControlPlaneOptions | undefined {
  const { values } = parseArgs({
    args: [...argv],
    allowPositionals: false,
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '0' },
      'tls-key': { type: 'string' },
      'tls-cert': { type: 'string' },
      'api-key': { type: 'string' },
      projects: { type: 'string', default: '3' },
      operations: { type: 'string', default: '20' },
      'page-size': { type: 'string', default: '100' },
      'operation-seconds': { type: 'string', default: '5' },
      'operation-outcome': { type: 'string', default: 'finished' },
      rate: { type: 'string' },
      burst: { type: 'string' },
      fault: { type: 'string', multiple: true, default: [] },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const pageSize = wholeNumber('--page-size', values['page-size'], 1, 1000);
  return {
    host: values.host,
    port: wholeNumber('--port', values.port, 0, 65_535),
    ...readTls(values['tls-key'], values['tls-cert']),
    ...readApiKey(values['api-key']),
    projects: wholeNumber('--projects', values.projects, 0, 100_000),
    operations: wholeNumber('--operations', values.operations, 0, 100_000),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 32 - 1),
    notShown: {
      defaultPageSize: pageSize,
      projectsPageSize: 10,
      maximumPageSize: pageSize,
      overMaximum: 'clamp',
    },
    ...readLimit(values.rate, values.burst),
    newOperations: {
      lengthMs: parseNumber('--operation-seconds', values['operation-seconds']) * 1000,
      outcome: oneOf('--operation-outcome', outcomes, values['operation-outcome']),
    },
    faults: values.fault.map((rule) => explained('--fault', () => parseFault(rule))),
  };
}

function readLimit(rate: string | undefined, burst: string | undefined): Pick<ServedControlPlaneOptions, 'limit'> {
  if (rate === undefined && burst !== undefined) throw new Error('--burst needs --rate.');
  if (rate === undefined) return {};
  const perSecond = parseNumber('--rate', rate);
  return { limit: { perSecond, bucket: wholeNumber('--burst', burst ?? '40', 1, 10_000) } };
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(least <= number && number <= most))
    throw new Error(`${option} must be a whole number from ${least} to ${most}, not '${text}'.`);
  return number;
}

/** The action rejects a shorter key, and no header can carry other characters. */
function readApiKey(apiKey: string | undefined): { readonly apiKey?: string } {
  if (apiKey === undefined) return {};
  if (!/^[!-~]{8,}$/.test(apiKey))
    throw new Error('--api-key must be 8 or more printable ASCII characters without spaces.');
  return { apiKey };
}

function readTls(keyFile: string | undefined, certFile: string | undefined): Pick<ServedControlPlaneOptions, 'tls'> {
  if (keyFile === undefined && certFile === undefined) return {};
  if (keyFile === undefined || certFile === undefined) throw new Error('--tls-key and --tls-cert need each other.');
  const key = explained('--tls-key', () => readFileSync(keyFile, 'utf8'));
  const cert = explained('--tls-cert', () => readFileSync(certFile, 'utf8'));
  explained('--tls-key and --tls-cert', () => createSecureContext({ key, cert }));
  return { tls: { key, cert } };
}

function explained<T>(option: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${option}: ${messageOf(error)}`);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
