import { statSync, truncateSync } from 'node:fs';
import * as core from '@actions/core';
import type { Secrets } from './secrets.js';

export type Toolkit = typeof toolkit;
export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that a step reads from the runner or sends to it. */
export const toolkit = {
  input: (name: string) => core.getInput(name),
  mask: core.setSecret,
  info: (line: string) => core.info(escapeCommands(line)),
  notice: (message: string) => core.notice(escapeCommands(message)),
  warning: (message: string) => core.warning(escapeCommands(message)),
  error: (message: string) => core.error(escapeCommands(message)),
  debug: (line: string) => {
    if (core.isDebug()) core.debug(escapeCommands(line));
  },
  output: (name: string, value: string) => {
    const file = process.env['GITHUB_OUTPUT'];
    const size = file ? statSync(file).size : 0;
    try {
      core.setOutput(name, value);
    } catch (error) {
      // On a full disk, only a part of an output may be written. Then the runner cannot read any later output.
      if (file) truncateSync(file, size);
      throw error;
    }
  },
  /** Saves a value for the post step. A later value of the same name replaces the earlier value. */
  state: (name: string, value: string) => core.saveState(name, value),
  summary: async (markdown: string) => {
    await core.summary.emptyBuffer().addRaw(markdown, true).write();
  },
};

/** No secret reaches the log or the summary. Outputs are not redacted here, because some hand a secret to later steps. */
export function redacting(runner: Toolkit, secrets: Secrets): Toolkit {
  const redacted =
    <Result>(print: (text: string) => Result) =>
    (text: string) =>
      print(secrets.redact(text));
  const { info, notice, warning, error, debug, summary } = runner;
  const lines = { info: redacted(info), notice: redacted(notice), warning: redacted(warning), debug: redacted(debug) };
  return { ...runner, ...lines, error: redacted(error), summary: redacted(summary) };
}

/** The runner would execute a line that begins with `::` or contains `##[` as a command. */
export function escapeCommands(text: string): string {
  return text.replaceAll('##[', '# #[').replace(/(?:^|[\r\n])(?:[^\S\r\n]|\u0085)*:(?=:)/g, '$& ');
}

/** The runner would execute `##[` as a command. In JSON, the escape does not change the parsed value. */
export function escapeCommandsInJson(json: string): string {
  return json.replaceAll('##[', '#\\u0023[');
}
