import { type Command, parseCommand } from './command.js';
import { assignIgnoringCase } from './command-files.js';
import type { Masker } from './masker.js';

export type AnnotationKind = 'error' | 'warning' | 'notice';

export interface Annotation {
  readonly kind: AnnotationKind;
  /** Masked and cut, as the runner shows it. */
  readonly message: string;
  /** The message before masks and cutting. */
  readonly raw: string;
  /** `runner`: a complaint of the runner itself, such as an input that action.yml does not know. */
  readonly source: 'action' | 'runner';
  /** Only ten of a kind reach the page of a run, and no blank ones; all are in the log. */
  readonly shown: boolean;
}

const LABEL: Readonly<Record<AnnotationKind, string>> = { error: 'Error', warning: 'Warning', notice: 'Notice' };
const COMMANDS = new Set(
  `add-mask add-matcher add-path debug echo endgroup error group
   notice remove-matcher save-state set-env set-output stop-commands warning`.split(/\s+/),
);
const MESSAGE_LIMIT = 4096;
const SHOWN_OF_A_KIND = 10;

const UPGRADE = 'Please upgrade to using Environment Files';
const CHANGELOG = 'For more information see: https://github.blog/changelog';
const OF_FILES = `${CHANGELOG}/2022-10-11-github-actions-deprecating-save-state-and-set-output-commands/`;
const OPT_IN =
  'opt into unsecure command execution by setting the `ACTIONS_ALLOW_UNSECURE_COMMANDS` environment variable to `true`. ' +
  `${CHANGELOG}/2020-10-01-github-actions-deprecating-set-env-and-add-path-commands/`;

/** Does with each line of a process what the runner does: carries out commands, and writes the log that a user sees. */
export class StepLog {
  readonly lines: string[] = [];
  readonly annotations: Annotation[] = [];
  readonly commands: Command[] = [];
  readonly masks: string[] = [];
  /** By the old commands, which need no file. */
  readonly outputs: Record<string, string> = {};
  readonly state: Record<string, string> = {};
  /** A command that the runner could not carry out fails the step whatever its exit code. */
  failed = false;

  constructor(private readonly masker: Masker) {}

  take(line: string): void {
    const command = parseCommand(line, COMMANDS);
    if (command) this.#process(command, line);
    else this.#write(line);
  }

  annotate(kind: AnnotationKind, raw: string, source: Annotation['source']): void {
    const message = this.masker.mask(raw).slice(0, MESSAGE_LIMIT);
    const before = this.annotations.filter((annotation) => annotation.kind === kind).length;
    const shown = before < SHOWN_OF_A_KIND && message.trim() !== '';
    this.annotations.push({ kind, message, raw, source, shown });
    if (message !== '') this.#write(`${LABEL[kind]}: ${message}`);
  }

  fail(message: string): void {
    this.failed = true;
    this.annotate('error', message, 'runner');
  }

  #write(text: string): void {
    this.lines.push(this.masker.mask(text));
  }

  #process(command: Command, line: string): void {
    this.commands.push(command);
    const problem = this.#carryOut(command);
    if (problem === undefined) return;
    this.fail(`Unable to process command '${line}' successfully.`);
    this.fail(problem);
  }

  /** Returns an error of the runner, if there is one. */
  #carryOut({ name, properties, data }: Command): string | undefined {
    if (name === 'error' || name === 'warning' || name === 'notice') this.annotate(name, data, 'action');
    else if (name === 'add-mask') this.#mask(data);
    else if (name === 'set-output') return this.#keep(this.outputs, name, properties['name'], data);
    else if (name === 'save-state') return this.#keep(this.state, name, properties['name'], data);
    else if (name === 'set-env' || name === 'add-path')
      return `The \`${name}\` command is disabled. ${UPGRADE} or ${OPT_IN}`;
    else if (name !== 'debug') return `The action uses no \`${name}\`, so this runner does not know what it does.`;
    return undefined;
  }

  #mask(value: string): void {
    if (value.trim() === '') {
      this.annotate('warning', "Can't add secret mask for empty string in ##[add-mask] command.", 'runner');
    } else {
      this.masks.push(value);
      this.masker.add(value);
    }
  }

  #keep(into: Record<string, string>, command: string, name: string | undefined, value: string): string | undefined {
    const deprecated = `The \`${command}\` command is deprecated and will be disabled soon. ${UPGRADE}. ${OF_FILES}`;
    this.annotate('warning', deprecated, 'runner');
    if (name === undefined) return `Required field 'name' is missing in ##[${command}] command.`;
    assignIgnoringCase(into, name, value);
    return undefined;
  }
}
