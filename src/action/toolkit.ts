import * as core from '@actions/core';

/** The interface of a step to the runner. */
export interface Toolkit {
  input(name: string): string;
  mask(secret: string): void;
  info(line: string): void;
  notice(message: string): void;
  warning(message: string): void;
  error(message: string): void;
  debug(line: string): void;
  output(name: string, value: string): void;
  /** For the post step, which gets the last value. */
  state(name: string, value: string): void;
  /** For the later steps of the job. */
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
  output: core.setOutput,
  state: core.saveState,
  variable: core.exportVariable,
  summary: async (markdown) => {
    await core.summary.emptyBuffer().addRaw(markdown, true).write();
  },
};

/** The runner executes a line that begins with `::` or contains `##[` as a command. */
export function escapeCommands(text: string): string {
  return text.replaceAll('##[', '# #[').replace(/(?:^|[\r\n])(?:[^\S\r\n]|\u0085)*:(?=:)/g, '$& ');
}

/** The same for JSON. There `##[` occurs only inside strings, so an escape keeps the parsed value the same. */
export function escapeCommandsInJson(json: string): string {
  return json.replaceAll('##[', '#\\u0023[');
}
