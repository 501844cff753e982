import { styleText } from 'node:util';
import { escapeXml } from '../runner/masker.js';
import type { StepResult } from '../runner/step.js';

const ENDS = { success: ['✓', 'green'], failure: ['✗', 'red'], cancelled: ['⊘', 'yellow'] } as const;
const LOG_COLOURS = { Error: 'red', Warning: 'yellow', Notice: 'cyan' } as const;
/** Longer values of outputs are cut to it. */
const WIDTH = 100;

export function headline(title: string): string {
  return styleText('bold', `━━ ${title} ${'━'.repeat(Math.max(3, 74 - title.length))}`);
}

/** Shows in a terminal that a step runs, and for how long. Returns a function that ends this. */
export function showProgress(): () => void {
  if (!process.stdout.isTTY) return () => {};
  let seconds = 0;
  const show = () => process.stdout.write(styleText('dim', `\r  … it runs (${seconds++} s)`));
  show();
  const timer = setInterval(show, 1_000);
  return () => {
    clearInterval(timer);
    process.stdout.write('\r\u001b[K');
  };
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

/** A job summary as a page that a browser opens without a network. */
export function summaryPage(markdown: string, title: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escapeXml(title)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { border: 1px solid #d1d9e0; padding: .35em .8em; text-align: left; }
code { font: .875em ui-monospace, monospace; background: #f6f8fa; overflow: auto; }
</style>
${renderMarkdown(markdown)}
`;
}

/** A summary of the action is HTML, but for its heading. */
function renderMarkdown(markdown: string): string {
  return markdown.replace(/^### (.*)$/gm, '<h3>$1</h3>');
}
