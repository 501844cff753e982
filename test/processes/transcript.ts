import { readFileSync } from 'node:fs';
import type { Exchange } from '../../control-plane/index.js';
import { parseCommand } from '../runner/command.js';
import { parsePairs, readCommandFile } from '../runner/command-files.js';
import type { StepResult } from '../runner/step.js';

type Received = readonly (readonly [event: string, lines: string[]])[];

/**
 * All that steps send, print and write, a line an event, in the order that the fixture `witness` saw; for requests one after the
 * other. `requests`: by the address of the service. `placeholders`: for secrets, and for values that differ in each run.
 */
export function transcriptOf(
  steps: readonly StepResult[],
  requests: Readonly<Record<string, readonly Exchange[]>>,
  placeholders: Readonly<Record<string, string>>,
): string {
  const byServices = Object.entries(requests).flatMap(([url, seen]) => receivedByService(new URL(url).host, seen));
  const runs = steps.map((step) => {
    const byRunner = receivedByRunner(step);
    const received = new Map([...byServices, ...byRunner]);
    const events = readFileSync(`${step.files.summary}.witness`, 'utf8').trimEnd().split('\n');
    const lines = events.map((event) => received.get(event)?.shift() ?? `${event}, received by nobody`);
    return [...lines, ...unwitnessed(byRunner), lineOf('exit', step.exitCode)].join('\n');
  });
  const transcript = [...runs, ...unwitnessed(byServices)].join('\n\n');
  return [...Object.entries(placeholders), ...patterns].reduce(
    (text, [value, placeholder]) => text.replaceAll(value, placeholder),
    transcript,
  );
}

function receivedByService(host: string, requests: readonly Exchange[]): Received {
  const line = ({ method, path, headers, body }: Exchange) =>
    lineOf('request', `${method} ${path}, ${headers['authorization']}${body && `, ${body}`}`);
  return [
    [`request ${host}`, requests.map(line)],
    [`answer ${host}`, requests.map(({ status }) => lineOf('status', status))],
  ];
}

function receivedByRunner({ files, lines, summary }: StepResult): Received {
  const pairs = (file: 'state' | 'output' | 'env') =>
    parsePairs(readCommandFile(files[file])).pairs.map(([name, value]) => lineOf(file, `${name} = ${value}`));
  return [
    ['stdout', lines.filter(({ stream }) => stream === 'stdout').map(({ text }) => lineOfStdout(text))],
    ['stderr', lines.filter(({ stream }) => stream === 'stderr').map(({ text }) => lineOf('stderr', text))],
    ['state', pairs('state')],
    ['output', pairs('output')],
    ['env', pairs('env')],
    ['summary', [lineOf('summary', summary.split('\n')[0])]],
  ];
}

const commands = new Set(['add-mask', 'error', 'warning', 'notice']);

function lineOfStdout(text: string): string {
  const command = parseCommand(text, commands);
  return command === undefined
    ? lineOf('log', text.trimStart())
    : lineOf(command.name.replace('add-', ''), command.data);
}

const lineOf = (event: string, text: string | number | null | undefined): string => `${event.padEnd(7)}  ${text}`;

function unwitnessed(received: Received): string[] {
  return received.flatMap(([, lines]) => lines.map((line) => `${line}, witnessed by nobody`));
}

const patterns: readonly (readonly [value: RegExp, placeholder: string])[] = [
  // Other tests check records. A record that contains a secret has a placeholder by now, and is shown.
  [/\[\{[^<\n]*\}\]$/gm, '<records>'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b[0-9a-f]{64}(?=\{|$)/gm, '<hmac>'],
  [/(?<=-run\d+-\d+-)[a-z0-9]{10}-[a-z0-9]{12}\b/g, '<seal>'],
  [/(?<=cursor=)[^,&]+/g, '<cursor>'],
  [/(?<=duration-ms = |"since":)\d+/g, '<ms>'],
  [/\b\d+(\.\d)?m?s\b/g, '<time>'],
];
