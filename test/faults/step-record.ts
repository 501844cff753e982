import { readFileSync } from 'node:fs';
import { filesIn } from '../kit/secrets-shown.js';
import { parseCommand } from '../runner/command.js';
import { parsePairs, readCommandFile } from '../runner/command-files.js';
import type { StepResult } from '../runner/step.js';
import type { Message, MessageKind, ProcessRecord } from '../simulation/record.js';

const commands = new Set(['add-mask', 'notice', 'warning', 'error', 'debug']);

export function completeRecord(record: ProcessRecord, result: StepResult, isKilled: boolean): void {
  const { exitCode, signal, overran } = result;
  record.exit = overran ? 'hung' : exitCode === 0 || exitCode === 1 ? exitCode : 'killed';
  record.messages.push(...messagesOf(result, record.endedAt));
  const path = result.outputs['result-file'];
  if (path !== undefined) record.resultFile = readFileSync(path, 'utf8');
  // Node drops its signal handlers while it exits, so a signal after the last message may still end the process.
  const isReported = record.texts('summary').length > 0 || record.output('status') !== undefined;
  if (signal !== null && !isKilled && !overran && !isReported) record.problems.push(`${signal} ended the process`);
  if (exitCode !== null && exitCode > 1) record.problems.push(`the exit code is ${exitCode}`);
  const complaints = result.annotations.filter(({ source }) => source === 'runner');
  record.problems.push(...complaints.map(({ message }) => `the runner reports: ${message}`));
  const unexpected = result.stderr.split('\n').filter((line) => line !== '' && !isMark(line));
  record.problems.push(...unexpected.map((line) => `a line in stderr: ${line}`));
}

/** A line of the fixture that sends a signal to its own process. */
export const isMark = (line: string): boolean => /^SIG[A-Z]+ (before|after) \w+ \d+$/.test(line);

/** The messages in the order in which the process sent them, as the fixture `witness` saw it. */
function messagesOf(result: StepResult, at: number): Message[] {
  const { files, lines, summary } = result;
  const received = new Map<string, Message[]>([
    ['stdout', lines.filter(({ stream }) => stream === 'stdout').map(({ text }) => messageOf(text, at))],
    ['state', pairsOf(files.state, 'state', at)],
    ['output', pairsOf(files.output, 'output', at)],
    ['env', pairsOf(files.env, 'variable', at)],
    ['summary', summary === '' ? [] : [{ at, kind: 'summary', name: '', text: summary }]],
  ]);
  const events = readCommandFile(`${files.summary}.witness`).split('\n');
  const inOrder = events.flatMap((event) => received.get(event)?.shift() ?? []);
  return [...inOrder, ...[...received.values()].flat(), ...otherFiles(result, at)];
}

function messageOf(line: string, at: number): Message {
  const command = parseCommand(line, commands);
  if (command === undefined) return { at, kind: 'info', name: '', text: line };
  const kind = command.name === 'add-mask' ? 'mask' : (command.name as MessageKind);
  return { at, kind, name: '', text: command.data };
}

function pairsOf(file: string, kind: MessageKind, at: number): Message[] {
  return parsePairs(readCommandFile(file)).pairs.map(([name, text]) => ({ at, kind, name, text }));
}

/** Files that the process left. Like the log they must not contain a secret. */
function otherFiles({ job, files }: StepResult, at: number): Message[] {
  const known = new Set<string>(Object.values(files));
  const others = filesIn(job.root).filter((path) => !known.has(path) && !path.includes('_runner_file_commands'));
  return others.map((path) => ({ at, kind: 'info', name: path, text: readFileSync(path, 'utf8') }));
}
