import { readFileSync } from 'node:fs';
import { parseCommand } from '../runner/command.js';
import { parsePairs, readCommandFile } from '../runner/command-files.js';
import type { StepResult } from '../runner/step.js';
import { sabotage } from './sabotage.js';

/** A request as the control plane, or GitHub, saw it. */
interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly authorization?: string | undefined };
  readonly body?: string;
  readonly status: number | undefined;
}

export interface Surroundings {
  /** By the address of the service. */
  readonly requests: Readonly<Record<string, readonly Seen[]>>;
  /** What is written in place of a value that is secret, or another each time. */
  readonly names: Readonly<Record<string, string>>;
}

type Received = readonly (readonly [event: string, lines: string[]])[];

/** Arguments of Node for a step of which a transcript is wanted. */
export const witnessed = sabotage('witness');

/**
 * All that the steps of a job let out, a line an event: in the order in which the process did it, as a witness within saw it,
 * and in the words of those who received it, the runner and the services. Before any mask, so that a secret shows wherever it
 * went. Right for steps that send one request after the other: of several under way, which came first is chance.
 */
export function transcriptOf(steps: readonly StepResult[], { requests, names }: Surroundings): string {
  const byServices = Object.entries(requests).flatMap(([url, seen]) => receivedByService(new URL(url).host, seen));
  const runs = steps.map((step) => {
    const byRunner = receivedByRunner(step);
    const received = new Map([...byServices, ...byRunner]);
    const events = readFileSync(`${step.files.summary}.witness`, 'utf8').trimEnd().split('\n');
    const lines = events.map((event) => received.get(event)?.shift() ?? `${event}, received by nobody`);
    return [...lines, ...unwitnessed(byRunner), lineOf('exit', step.exitCode)].join('\n');
  });
  return withNames([...runs, ...unwitnessed(byServices)].join('\n\n'), names);
}

/** A transcript as it stands in a test, indented. */
export function written(text: string): string {
  return text.trim().replaceAll(/\n +/g, '\n');
}

function receivedByService(host: string, requests: readonly Seen[]): Received {
  return [
    [`request ${host}`, requests.map((seen) => lineOf('request', wordsOf(seen)))],
    [`answer ${host}`, requests.map(({ status }) => lineOf('answer', status))],
  ];
}

function wordsOf({ method, path, headers, body = '' }: Seen): string {
  return `${method} ${path}, ${headers.authorization}${body === '' ? '' : `, ${body}`}`;
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

function lineOf(event: string, what: string | number | null | undefined): string {
  return `${event.padEnd(7)}  ${what}`;
}

function unwitnessed(received: Received): string[] {
  return received.flatMap(([, lines]) => lines.map((line) => `${line}, witnessed by nobody`));
}

const rules: readonly (readonly [value: RegExp, name: string])[] = [
  // Other tests look into records; but one with a secret in it, which has its name by now, is shown.
  [/\[\{[^<\n]*\}\]$/gm, '<records>'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b[0-9a-f]{64}(?=\{)/g, '<hmac>'],
  [/(?<=-run\d+-\d+-)[a-z0-9]{10}-[a-z0-9]{12}\b/g, '<seal>'],
  [/(?<=cursor=)[^,&]+/g, '<cursor>'],
  [/(?<=duration-ms = |"since":)\d+/g, '<ms>'],
  [/\b\d+(\.\d)?m?s\b/g, '<time>'],
];

function withNames(text: string, names: Surroundings['names']): string {
  return [...Object.entries(names), ...rules].reduce((rest, [value, name]) => rest.replaceAll(value, name), text);
}
