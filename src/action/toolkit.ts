import * as core from '@actions/core';
import type { Secrets } from './secrets.js';

export type Toolkit = typeof toolkit;
export type Environment = Readonly<Record<string, string | undefined>>;

export const toolkit = {
  input: (name: string) => core.getInput(name),
  mask: core.setSecret,
  info: (line: string) => core.info(line),
  notice: (message: string) => core.notice(message),
  warning: (message: string) => core.warning(message),
  error: (message: string) => core.error(message),
  debug: (line: string) => {
    if (core.isDebug()) core.debug(line);
  },
  output: (name: string, value: string) => core.setOutput(name, value),
  state: (name: string, value: string) => core.saveState(name, value),
  summary: (markdown: string): Promise<unknown> => core.summary.addRaw(markdown, true).write(),
};

/** No secret reaches the log or the summary, and no command the log. Some outputs hand a secret to later steps. */
export function shielded(runner: Toolkit, secrets: Secrets): Toolkit {
  const shield = { ...runner, summary: (markdown: string) => runner.summary(secrets.redact(markdown)) };
  for (const level of ['info', 'notice', 'warning', 'error', 'debug'] as const)
    shield[level] = (text) => runner[level](escapeCommands(secrets.redact(text)));
  return shield;
}

/** The runner would execute a line that begins with `::` or contains `##[` as a command. */
export function escapeCommands(text: string): string {
  return text.replaceAll('##[', '# #[').replace(/(?:^|[\r\n])(?:[^\S\r\n]|\u0085)*:(?=:)/g, '$& ');
}

/** In JSON, the escape does not change the parsed value. */
export function escapeCommandsInJson(json: string): string {
  return json.replaceAll('##[', '#\\u0023[');
}
