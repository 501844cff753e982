import * as core from '@actions/core';
import { harmless } from './harmless.js';

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
  info: (line) => core.info(harmless(line)),
  notice: (message) => core.notice(harmless(message)),
  warning: (message) => core.warning(harmless(message)),
  error: (message) => core.error(harmless(message)),
  debug: (line) => {
    if (core.isDebug()) core.debug(harmless(line));
  },
  output: core.setOutput,
  state: core.saveState,
  variable: core.exportVariable,
  summary: async (markdown) => {
    await core.summary.emptyBuffer().addRaw(markdown, true).write();
  },
};
