import { statSync, truncateSync } from 'node:fs';
import * as core from '@actions/core';

/** Everything that a step reads from the runner or sends to it. */
export interface Toolkit {
  input(name: string): string;
  mask(secret: string): void;
  info(line: string): void;
  notice(message: string): void;
  warning(message: string): void;
  error(message: string): void;
  debug(line: string): void;
  output(name: string, value: string): void;
  /** Saves a value for the post step. A later value of the same name replaces the earlier value. */
  state(name: string, value: string): void;
  /** Sets an environment variable for the later steps of the job. */
  variable(name: string, value: string): void;
  summary(markdown: string): Promise<void>;
}

export const toolkit: Toolkit = {
  input: core.getInput,
  mask: core.setSecret,
  info: (line) => core.info(escapeCommands(line)),
  notice: (message) => core.notice(escapeCommands(message)),
  warning: (message) => core.warning(escapeCommands(message)),
  error: (message) => core.error(escapeCommands(message)),
  debug: (line) => {
    if (core.isDebug()) core.debug(escapeCommands(line));
  },
  output: (name, value) => {
    const file = process.env['GITHUB_OUTPUT'];
    const size = file ? statSync(file).size : 0;
    try {
      core.setOutput(name, value);
    } catch (error) {
      // A full disk may take a part of the output, and the runner would find no later output behind it.
      if (file) truncateSync(file, size);
      throw error;
    }
  },
  state: core.saveState,
  variable: core.exportVariable,
  summary: async (markdown) => {
    await core.summary.emptyBuffer().addRaw(markdown, true).write();
  },
};

/** The runner would execute a line that begins with `::` or contains `##[` as a command. */
export function escapeCommands(text: string): string {
  return text.replaceAll('##[', '# #[').replace(/(?:^|[\r\n])(?:[^\S\r\n]|\u0085)*:(?=:)/g, '$& ');
}

/** The runner would execute `##[` as a command. In JSON, the escape does not change the parsed value. */
export function escapeCommandsInJson(json: string): string {
  return json.replaceAll('##[', '#\\u0023[');
}
