import { styleText } from 'node:util';
import type { StepResult } from '../runner/step.js';

const ENDS = { success: ['✓', 'green'], failure: ['✗', 'red'], cancelled: ['⊘', 'yellow'] } as const;
const LOG_COLOURS = { Error: 'red', Warning: 'yellow', Notice: 'cyan' } as const;
/** Longer values of outputs are cut to it. */
const WIDTH = 100;

export function headline(title: string): string {
  return styleText('bold', `━━ ${title} ${'━'.repeat(Math.max(3, 74 - title.length))}`);
}

/** A finished step for a terminal: its masked log, its outputs, its end. Outputs are shown masked too. */
export function presentStep({ log, outputs, job, conclusion, ms }: StepResult): string {
  const coloured = Object.entries(LOG_COLOURS).reduce(
    (text, [kind, colour]) => text.replaceAll(new RegExp(`^${kind}: .*`, 'gm'), (line) => styleText(colour, line)),
    log,
  );
  const lines = [coloured.trimEnd().replaceAll(/^(?=.)/gm, '  ')];
  const filled = Object.entries(outputs).filter(([, value]) => value !== '');
  const column = Math.max(0, ...filled.map(([name]) => name.length));
  if (filled.length > 0) lines.push('', styleText('dim', 'Outputs'));
  for (const [name, value] of filled) {
    const text = job.masker.mask(value).replaceAll(/\s+/g, ' ');
    const shown = text.length <= WIDTH ? text : `${text.slice(0, WIDTH - 1)}… (${text.length} characters)`;
    lines.push(`  ${styleText('cyan', name.padEnd(column))}  ${shown}`);
  }
  const [mark, colour] = ENDS[conclusion];
  const duration = styleText('dim', `after ${(ms / 1000).toFixed(1)} s`);
  return [...lines, '', `${styleText(colour, `${mark} ${conclusion}`)} ${duration}`, ''].join('\n');
}
