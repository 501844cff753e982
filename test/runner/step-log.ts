import { type Command, parseCommand } from './command.js';
import type { Masker } from './masker.js';

export type AnnotationKind = 'error' | 'warning' | 'notice';

export interface Annotation {
  readonly kind: AnnotationKind;
  /** Masked and cut, as the runner shows it. */
  readonly message: string;
  /** Never masked: the runner does not. */
  readonly title?: string;
  /** The message before masks and cutting. */
  readonly raw: string;
  /** `runner`: a complaint of the runner itself, such as an input that action.yml does not know. */
  readonly source: 'action' | 'runner';
  /** Only ten of a kind reach the page of a run; all are in the log. */
  readonly shown: boolean;
}

const LABEL: Readonly<Record<AnnotationKind, string>> = { error: 'Error', warning: 'Warning', notice: 'Notice' };
const COMMANDS = [
  'add-mask',
  'add-matcher',
  'add-path',
  'debug',
  'echo',
  'endgroup',
  'error',
  'group',
  'notice',
  'remove-matcher',
  'save-state',
  'set-env',
  'set-output',
  'stop-commands',
  'warning',
];
const NOT_ECHOED = new Set(['add-mask', 'debug', 'error', 'notice', 'warning']);
const MESSAGE_LIMIT = 4096;
const SHOWN_OF_A_KIND = 10;

/** Does with each line of a process what the runner does: carries out commands, and writes the log that a user sees. */
export class StepLog {
  readonly lines: string[] = [];
  readonly annotations: Annotation[] = [];
  /** Every command carried out, in order. */
  readonly commands: Command[] = [];
  /** The values that the step had masked, in order. */
  readonly masks: string[] = [];
  /** By the old commands, which need no file. */
  readonly outputs: Record<string, string> = {};
  readonly state: Record<string, string> = {};
  /** A command that the runner could not carry out fails the step whatever its exit code. */
  failed = false;

  readonly #masker: Masker;
  readonly #debug: boolean;
  readonly #known = new Set(COMMANDS);
  #stopToken: string | undefined;
  #echo: boolean;

  constructor(masker: Masker, debug: boolean) {
    this.#masker = masker;
    this.#debug = debug;
    this.#echo = debug;
  }

  take(line: string): void {
    const command = parseCommand(line, this.#known);
    if (!command || !this.#process(command, line)) this.#write(line);
  }

  annotate(kind: AnnotationKind, raw: string, source: Annotation['source'], title?: string): void {
    const message = this.#masker.mask(raw).slice(0, MESSAGE_LIMIT);
    const before = this.annotations.filter((annotation) => annotation.kind === kind).length;
    const shown = before < SHOWN_OF_A_KIND;
    this.annotations.push({ kind, message, ...(title === undefined ? {} : { title }), raw, source, shown });
    if (message !== '') this.#write(`${LABEL[kind]}: ${message}`);
  }

  fail(message: string): void {
    this.failed = true;
    this.annotate('error', message, 'runner');
  }

  debug(message: string): void {
    if (!this.#debug) return;
    for (const line of message.split(/\r?\n/)) this.#write(`##[debug]${line}`);
  }

  #write(text: string): void {
    this.lines.push(this.#masker.mask(text));
  }

  /** False: the line is printed like any other. */
  #process(command: Command, line: string): boolean {
    if (this.#stopToken !== undefined) {
      if (command.name !== this.#stopToken) return false;
      this.#write(line);
      this.#known.delete(this.#stopToken);
      this.#stopToken = undefined;
      return true;
    }
    this.commands.push(command);
    if (command.name === 'stop-commands') {
      this.#stop(command.data, line);
      return true;
    }
    if (this.#echo && !NOT_ECHOED.has(command.name)) this.#write(line);
    this.#carryOut(command);
    return true;
  }

  #stop(token: string, line: string): void {
    const name = token.toLowerCase();
    if (name === '' || name === 'pause-logging' || this.#known.has(name)) {
      this.fail('You cannot use an endToken that is empty or a workflow command');
      return;
    }
    this.#stopToken = name;
    this.#known.add(name);
    if (token.length > 6) this.#masker.add(token);
    this.#write(line);
  }

  #carryOut({ name, properties, data }: Command): void {
    switch (name) {
      case 'error':
      case 'warning':
      case 'notice':
        this.annotate(name, data, 'action', properties['title']);
        break;
      case 'debug':
        this.debug(data);
        break;
      case 'add-mask':
        this.#mask(data);
        break;
      case 'group':
        this.#write(`##[group]${data}`);
        break;
      case 'endgroup':
        this.#write('##[endgroup]');
        break;
      case 'set-output':
        this.#keep(this.outputs, name, properties['name'], data);
        break;
      case 'save-state':
        this.#keep(this.state, name, properties['name'], data);
        break;
      case 'echo':
        this.#echo = data.trim().toLowerCase() === 'on';
        break;
      case 'set-env':
      case 'add-path':
        this.fail(`The \`${name}\` command is disabled. Please upgrade to using Environment Files`);
        break;
      // Problem matchers are for compilers: they count as commands and have no effect here.
    }
  }

  #mask(value: string): void {
    if (value.trim() === '') {
      this.annotate('warning', "Can't add secret mask for empty string in ##[add-mask] command.", 'runner');
      return;
    }
    this.masks.push(value);
    this.#masker.add(value);
    for (const line of value.split(/[\r\n]+/)) this.#masker.add(line.trim());
  }

  #keep(into: Record<string, string>, command: string, name: string | undefined, value: string): void {
    this.annotate('warning', `The \`${command}\` command is deprecated and will be disabled soon.`, 'runner');
    if (name === undefined) this.fail(`Required field 'name' is missing in ##[${command}] command.`);
    else into[name] = value;
  }
}
