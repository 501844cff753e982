import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ending, Output, Pieces } from './ending.js';
import { harmlessJson } from './harmless.js';
import { fitting } from './output-limits.js';
import { code } from './reports/markdown.js';
import type { Secrets } from './secrets.js';
import type { Toolkit } from './toolkit.js';

export interface Place {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly mode: string;
  readonly wantsSummary: boolean;
}

/** The result file could not be written. */
export class Untold extends Error {}

/** Writes the result file, outputs, log and summary. Redacts everything except a secret for later steps. */
export async function publish(ending: Ending, took: number, place: Place): Promise<void> {
  const { toolkit, secrets } = place;
  const clean = (text: string) => secrets.redact(text);

  const common: Output[] = [
    { name: 'status', value: ending.status },
    { name: 'duration-ms', value: String(Math.round(took)) },
  ];
  const file: Output[] =
    ending.result === undefined ? [] : [{ name: 'result-file', value: resultFile(ending, ending.result, place) }];
  // Redaction comes first, because the escape could split a secret.
  const own = (ending.outputs ?? []).map((output) =>
    output.isSecret || output.value === undefined ? output : { ...output, value: harmlessJson(clean(output.value)) },
  );
  const { outputs, dropped } = fitting([...common, ...file, ...own]);
  for (const { name, value } of outputs) toolkit.output(name, value);
  if (ending.variable !== undefined) toolkit.variable(ending.variable.name, ending.variable.value);
  ending.whenHandedOn?.();

  if (dropped.length > 0)
    toolkit.warning(
      `Too large for outputs and left empty: ${dropped.join(', ')}. The whole result is in the file that result-file names${place.mode === 'list-projects' ? '; with shard each job of a matrix lists a share that fits' : ''}.`,
    );
  await say(ending, place);
}

/** Writes the log and the summary. */
export async function say(ending: Ending, { toolkit, secrets, mode, wantsSummary }: Place): Promise<void> {
  const clean = (text: string) => secrets.redact(text);
  for (const warning of ending.warnings ?? []) toolkit.warning(clean(warning));
  if (ending.notice !== undefined) toolkit.notice(clean(ending.notice));
  if (ending.error === undefined) toolkit.info(clean(`${ending.headline}.`));
  else toolkit.error(clean(ending.error));
  if (wantsSummary) await summarise(clean(summaryOf(ending, mode)), toolkit);
}

/** A success without its result file is an error: later steps could not read it. A failure keeps its own error. */
function resultFile({ succeeded }: Ending, pieces: Pieces, place: Place): string {
  try {
    return writeResult(pieces, place);
  } catch (error) {
    if (succeeded || !(error instanceof Untold)) throw error;
    place.toolkit.warning(`${error.message}.`);
    return '';
  }
}

function writeResult(pieces: Pieces, { environment, mode, secrets }: Place): string {
  const folder = environment['RUNNER_TEMP'] || tmpdir();
  const path = join(folder, `ctl-${mode}-${randomUUID()}.json`);
  try {
    const file = openSync(path, 'wx', 0o600);
    for (const piece of pieces) writeSync(file, harmlessJson(secrets.redact(piece)));
    writeSync(file, '\n');
    closeSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Untold(
      `The result could not be written to a file in ${folder}, the folder that RUNNER_TEMP names (${code})`,
    );
  }
  return path;
}

function summaryOf(ending: Ending, mode: string): string {
  const { succeeded, status, headline, error, notice, warnings = [], details = '' } = ending;
  const sign = !succeeded ? (status === 'cancelled' ? '🚫' : '❌') : warnings.length > 0 ? '⚠️' : '✅';
  const said = [error, ...warnings, notice].flatMap((text) =>
    text === undefined ? [] : [`<p>${text.split('\n').map(code).join('<br>')}</p>\n`],
  );
  return `### ${sign} ${mode}: ${headline}\n\n${said.join('')}${details}\n`;
}

/** A failed summary is only a warning. It does not change the result of the step. */
async function summarise(markdown: string, toolkit: Toolkit): Promise<void> {
  try {
    await toolkit.summary(markdown);
  } catch (error) {
    toolkit.warning(`The summary could not be written: ${error instanceof Error ? error.message : error}`);
  }
}
