import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../text/sentences.js';
import type { PublishContext } from './step-report.js';
import { escapeCommandsInJson } from './toolkit.js';

export class ResultFileError extends Error {}

interface ResultFile {
  /** Of the output with its path. */
  readonly name: string;
  /** JSON. One string could take too much memory. */
  readonly pieces: Iterable<string>;
  readonly clean: (piece: string) => string;
}

/** Returns the path. If writing fails, a successful step fails too, because later steps could not read the result. */
export function writeResultFile(
  { name, pieces, clean }: ResultFile,
  succeeded: boolean,
  warnings: string[],
  { environment, mode }: PublishContext,
): string {
  const folder = environment['RUNNER_TEMP'] || tmpdir();
  const path = join(folder, `ctl-${mode}-${name}-${randomUUID()}.json`);
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
    // This is not `writeSync()`, because on a full disk that can write a part and not fail.
    for (const piece of pieces) writeFileSync(path, escapeCommandsInJson(clean(piece)), { flag: 'a' });
    return path;
  } catch (error) {
    if (existsSync(path)) rmSync(path);
    const message = `Could not write ${name} to ${folder} (RUNNER_TEMP): ${(error as NodeJS.ErrnoException).code ?? errorMessage(error)}`;
    if (succeeded) throw new ResultFileError(message);
    warnings.push(`${message}.`);
    return '';
  }
}

export function* printObject(result: object): Generator<string> {
  let separator = '{';
  for (const [name, value] of Object.entries(result)) {
    yield `${separator}${JSON.stringify(name)}:`;
    if (Array.isArray(value)) yield* printArray(value);
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield '}\n';
}

const itemsAtOnce = 1_000;

/** Each item is in one piece, so that redaction finds every secret. */
export function* printArray(items: readonly unknown[]): Generator<string> {
  yield '[';
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    const piece = JSON.stringify(items.slice(from, from + itemsAtOnce)).slice(1, -1);
    yield from === 0 ? piece : `,${piece}`;
  }
  yield ']';
}
