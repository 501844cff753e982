import type { Masker } from './masker.js';
import type { StepResult } from './step.js';

export interface Shown extends Pick<StepResult, 'log' | 'outputs' | 'conclusion' | 'ms'> {
  readonly job: { readonly masker: Pick<Masker, 'mask'> };
}

export interface PresentOptions {
  readonly colours?: boolean | undefined;
  /** Longer values of outputs are cut to it. */
  readonly width?: number | undefined;
}

type Colour = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold';

const CODES: Readonly<Record<Colour, number>> = { red: 31, green: 32, yellow: 33, cyan: 36, dim: 2, bold: 1 };
const ENDS = { success: ['✓', 'green'], failure: ['✗', 'red'], cancelled: ['⊘', 'yellow'] } as const;
const LOG_COLOURS: ReadonlyArray<readonly [start: string, colour: Colour]> = [
  ['Error: ', 'red'],
  ['Warning: ', 'yellow'],
  ['Notice: ', 'cyan'],
  ['##[debug]', 'dim'],
];

/** Colours are for people: not for a pipe, and not for those who said that they want none. */
export function wantsColours(
  stream: { readonly isTTY?: boolean | undefined } = process.stdout,
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  return stream.isTTY === true && !env['NO_COLOR'];
}

/** The first line of a step. */
export function headline(title: string, colours = false): string {
  const line = `━━ ${title} ${'━'.repeat(Math.max(3, 74 - title.length))}`;
  return colours ? `\u001b[${CODES.bold}m${line}\u001b[0m` : line;
}

/** A finished step for a terminal: its masked log, its outputs, its end. Outputs are shown masked too. */
export function presentStep(step: Shown, options: PresentOptions = {}): string {
  const { colours = false, width = 100 } = options;
  const paint = (colour: Colour, text: string): string => (colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text);
  const lines = logLines(step.log, paint);

  const outputs = Object.entries(step.outputs).filter(([, value]) => value !== '');
  const column = Math.max(0, ...outputs.map(([name]) => name.length));
  if (outputs.length > 0) lines.push('', paint('dim', 'Outputs'));
  for (const [name, value] of outputs) {
    lines.push(
      `  ${paint('cyan', name.padEnd(column))}  ${cut(step.job.masker.mask(value).replaceAll(/\s+/g, ' '), width)}`,
    );
  }

  const [mark, colour] = ENDS[step.conclusion];
  lines.push('', `${paint(colour, `${mark} ${step.conclusion}`)} ${paint('dim', `after ${seconds(step.ms)}`)}`);
  return `${lines.join('\n')}\n`;
}

function logLines(log: string, paint: (colour: Colour, text: string) => string): string[] {
  let depth = 0;
  const lines: string[] = [];
  for (const line of log.split('\n').slice(0, -1)) {
    if (line === '##[endgroup]') {
      depth = 0;
    } else if (line.startsWith('##[group]')) {
      lines.push(`  ${paint('bold', `▾ ${line.slice('##[group]'.length)}`)}`);
      depth = 1;
    } else {
      const colour = LOG_COLOURS.find(([start]) => line.startsWith(start))?.[1];
      lines.push(`  ${'  '.repeat(depth)}${colour ? paint(colour, line) : line}`);
    }
  }
  return lines;
}

function cut(text: string, width: number): string {
  const characters = [...text];
  if (characters.length <= width) return text;
  return `${characters.slice(0, width - 1).join('')}… (${characters.length} characters)`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
