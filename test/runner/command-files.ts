import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StepLog } from './step-log.js';

const prefixes = { output: 'set_output', state: 'save_state', summary: 'step_summary' } as const;

/** The files through which a step talks to the runner; it reads them when the process has ended, however it ended. */
export type CommandFiles = Readonly<Record<keyof typeof prefixes, string>>;

export function createCommandFiles(temp: string): CommandFiles {
  const folder = join(temp, '_runner_file_commands');
  mkdirSync(folder, { recursive: true });
  const suffix = randomUUID();
  const created = Object.entries(prefixes).map(([name, part]) => [name, join(folder, `${part}_${suffix}`)] as const);
  for (const [, file] of created) writeFileSync(file, '');
  return Object.fromEntries(created) as CommandFiles;
}

/** Entries `name=value` and `name<<DELIMITER`, up to one that is malformed. On Windows lines may end with CRLF. */
function parsePairs(text: string) {
  const pairs: [name: string, value: string][] = [];
  const lines = text.replace(/^\uFEFF/, '').split(process.platform === 'win32' ? /\r?\n/ : '\n');
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const [, name = '', sign, rest = ''] = /^(.*?)(=|<<)(.*)$/s.exec(line) ?? [];
    const end = sign === '<<' && rest !== '' ? lines.indexOf(rest, i + 1) : -1;
    if (sign === '=') pairs.push([name, rest]);
    else if (end > 0 && name !== '') {
      pairs.push([name, lines.slice(i + 1, end).join('\n')]);
      i = end;
    } else if (line !== '') return { pairs, isValid: false };
  }
  return { pairs, isValid: true };
}

/** Reads the command files when the process has ended, as the runner does. One that is malformed fails the step. */
export function takeFiles(files: CommandFiles, log: StepLog, stage: 'main' | 'post') {
  const read = (name: 'output' | 'state') => {
    const { pairs, isValid } = parsePairs(readFileSync(files[name], 'utf8'));
    if (!isValid) log.fail(`Unable to process file command '${name}' successfully.`);
    const values: Record<string, string> = {};
    // Names differ in no case; the first spelling stays.
    for (const [name, value] of pairs)
      values[Object.keys(values).find((known) => known.toLowerCase() === name.toLowerCase()) ?? name] = value;
    return values;
  };
  const [state, outputs, summary] = [read('state'), read('output'), readFileSync(files.summary, 'utf8')];
  return {
    /** Raw: masks do not reach them. A post has none, whatever it sets. */
    outputs: stage === 'main' ? outputs : {},
    state,
    /** As written: before masks. The toolkit ends its lines with CRLF on Windows. A page shows LF. */
    summary: process.platform === 'win32' ? summary.replaceAll('\r\n', '\n') : summary,
  };
}
