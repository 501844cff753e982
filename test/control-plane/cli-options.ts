import { parseArgs } from 'node:util';
import { faultNotation, parseFault } from './fault-notation.js';
import type { FaultRule } from './faults.js';

export interface CliOptions {
  readonly host: string;
  readonly port: number;
  readonly apiKey: string | undefined;
  readonly projects: number;
  readonly operations: number;
  readonly seed: number;
  readonly operationSeconds: readonly number[];
  readonly fail: number;
  readonly faults: readonly FaultRule[];
}

export const help = `A control API to try workflows against. The first line on stdout is a JSON object with base_url, api_key and
project_ids; each request is a line on stderr.

  --host ADDRESS             where to listen (127.0.0.1)
  --port N                   0: any that is free (0)
  --api-key KEY              the key to accept (made from the seed)
  --projects N               how many projects (3)
  --operations N             how many past operations each project has (20)
  --seed N                   the same seed, the same data and chances (1)
  --operation-seconds S,…    start an operation of each length in the first project; the JSON line gets operation_ids
  --fail N                   so many of these end as failed, the first ones (0)
  --fault RULE               can be repeated; RULE is ${faultNotation}
  --help
`;

/** Undefined when help is asked for; throws an Error that says what is wrong. */
export function parseCliOptions(argv: readonly string[]): CliOptions | undefined {
  const { values } = parseArgs({
    args: [...argv],
    allowPositionals: false,
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '0' },
      'api-key': { type: 'string' },
      projects: { type: 'string', default: '3' },
      operations: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
      'operation-seconds': { type: 'string', default: '' },
      fail: { type: 'string', default: '0' },
      fault: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const options: CliOptions = {
    host: values.host,
    port: wholeNumber('port', values.port, 65_535),
    apiKey: printableKey(values['api-key']),
    projects: wholeNumber('projects', values.projects, 1_000_000),
    operations: wholeNumber('operations', values.operations, 1_000_000),
    seed: wholeNumber('seed', values.seed, 2 ** 32 - 1),
    operationSeconds: secondsList(values['operation-seconds']),
    fail: wholeNumber('fail', values.fail, 1_000_000),
    faults: values.fault.map(parseFault),
  };
  if (options.fail > options.operationSeconds.length) {
    throw new Error('--fail asks for more operations than --operation-seconds starts.');
  }
  if (options.operationSeconds.length > 0 && options.projects === 0) {
    throw new Error('--operation-seconds needs a project.');
  }
  return options;
}

function wholeNumber(flag: string, text: string, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= most)) throw new Error(`--${flag} must be a whole number up to ${most}, not '${text}'.`);
  return number;
}

function secondsList(text: string): number[] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    if (!/^\d+(\.\d+)?$/.test(part)) throw new Error(`--operation-seconds must be numbers with commas, not '${text}'.`);
    return Number(part);
  });
}

/** A key that no header can carry would only ever give 401. */
function printableKey(key: string | undefined): string | undefined {
  if (key !== undefined && !/^[!-~]+$/.test(key)) {
    throw new Error('--api-key must be printable ASCII without spaces.');
  }
  return key;
}
