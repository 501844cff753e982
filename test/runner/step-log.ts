import type { Masker } from './masker.js';

const LABEL = { error: 'Error', warning: 'Warning', notice: 'Notice' } as const;

export interface Annotation {
  readonly kind: keyof typeof LABEL;
  /** Masked and cut, as the runner shows it. */
  readonly message: string;
  /** The message before masks and cutting. */
  readonly raw: string;
  /** `runner`: a complaint of the runner itself, such as an input that action.yml does not know. */
  readonly source: 'action' | 'runner';
}

const COMMANDS = new Set(
  `add-mask add-matcher add-path debug echo endgroup error group
   notice remove-matcher save-state set-env set-output stop-commands warning`.split(/\s+/),
);
const MESSAGE_LIMIT = 4096;

// The order of escapes matters: `%25` comes last, or `%250A` would turn into a line break.
const forms = [
  {
    // `::name properties::data`, first in its line but for white space. To the runner, U+0085 is that, a BOM is not.
    pattern: /^(?:(?!\uFEFF)\s|\u0085)*::(.*?)::(.*)$/s,
    escapes: { '%0D': '\r', '%0A': '\n', '%25': '%' },
  },
  {
    // `##[name properties]data`, anywhere in a line: only the first `##[` of it is looked at.
    pattern: /##\[(.*?)\](.*)$/s,
    escapes: { '%3B': ';', '%0D': '\r', '%0A': '\n', '%5D': ']', '%25': '%' },
  },
];

interface Command {
  readonly name: string;
  readonly data: string;
}

function parseCommand(line: string): Command | undefined {
  for (const { pattern, escapes } of forms) {
    const [, info = '', written = ''] = pattern.exec(line) ?? [];
    const name = info.split(' ', 1)[0]?.toLowerCase() ?? '';
    const data = Object.entries(escapes).reduce((text, [code, sign]) => text.replaceAll(code, sign), written);
    if (COMMANDS.has(name)) return { name, data };
  }
  return undefined;
}

/** Does with each line of a process what the runner does: carries out commands, and writes the log that a user sees. */
export class StepLog {
  readonly lines: string[] = [];
  readonly annotations: Annotation[] = [];
  readonly commands: Command[] = [];
  readonly masks: string[] = [];
  /** What the runner could not carry out fails the step whatever its exit code. */
  failed = false;

  constructor(private readonly masker: Masker) {}

  take(line: string): void {
    const command = parseCommand(line);
    if (command === undefined) this.#write(line);
    else this.#carryOut(command);
  }

  #carryOut(command: Command): void {
    this.commands.push(command);
    const { name, data } = command;
    if (name === 'error' || name === 'warning' || name === 'notice') this.annotate(name, data, 'action');
    else if (name === 'add-mask') this.#mask(data);
    else if (name !== 'debug') this.fail(`The action uses no \`${name}\`, so this runner does not know what it does.`);
  }

  annotate(kind: Annotation['kind'], raw: string, source: Annotation['source']): void {
    const message = this.masker.mask(raw).slice(0, MESSAGE_LIMIT);
    this.annotations.push({ kind, message, raw, source });
    if (message !== '') this.#write(`${LABEL[kind]}: ${message}`);
  }

  fail(message: string): void {
    this.failed = true;
    this.annotate('error', message, 'runner');
  }

  #write(text: string): void {
    this.lines.push(this.masker.mask(text));
  }

  #mask(value: string): void {
    if (value.trim() === '') {
      this.annotate('warning', "Can't add secret mask for empty string in ##[add-mask] command.", 'runner');
    } else {
      this.masks.push(value);
      this.masker.add(value);
    }
  }
}
