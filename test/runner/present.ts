import { styleText } from 'node:util';
import type { Masker } from './masker.js';
import type { StepResult } from './step.js';

export interface Shown extends Pick<StepResult, 'log' | 'outputs' | 'conclusion' | 'ms'> {
  readonly job: { readonly masker: Pick<Masker, 'mask'> };
}

const ENDS = { success: ['✓', 'green'], failure: ['✗', 'red'], cancelled: ['⊘', 'yellow'] } as const;
const LOG_COLOURS = [
  ['Error: ', 'red'],
  ['Warning: ', 'yellow'],
  ['Notice: ', 'cyan'],
] as const;
/** Longer values of outputs are cut to it. */
const WIDTH = 100;

/** The first line of a step. */
export function headline(title: string): string {
  return styleText('bold', `━━ ${title} ${'━'.repeat(Math.max(3, 74 - title.length))}`);
}

/** A finished step for a terminal: its masked log, its outputs, its end. Outputs are shown masked too. */
export function presentStep({ log, outputs, job, conclusion, ms }: Shown): string {
  const lines = log
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const colour = LOG_COLOURS.find(([start]) => line.startsWith(start))?.[1];
      return `  ${colour ? styleText(colour, line) : line}`;
    });
  const filled = Object.entries(outputs).filter(([, value]) => value !== '');
  const column = Math.max(0, ...filled.map(([name]) => name.length));
  if (filled.length > 0) lines.push('', styleText('dim', 'Outputs'));
  for (const [name, value] of filled) {
    const text = cut(job.masker.mask(value).replaceAll(/\s+/g, ' '));
    lines.push(`  ${styleText('cyan', name.padEnd(column))}  ${text}`);
  }
  const [mark, colour] = ENDS[conclusion];
  const duration = styleText('dim', `after ${(ms / 1000).toFixed(1)} s`);
  lines.push('', `${styleText(colour, `${mark} ${conclusion}`)} ${duration}`);
  return `${lines.join('\n')}\n`;
}

function cut(text: string): string {
  const characters = [...text];
  if (characters.length <= WIDTH) return text;
  return `${characters.slice(0, WIDTH - 1).join('')}… (${characters.length} characters)`;
}
