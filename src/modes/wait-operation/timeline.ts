import type { OperationRow } from '../../operations/table.js';

const maxBars = 30;
const tags = { failed: 'crit, ', pending: 'active, ', succeeded: 'done, ' };

/** A Mermaid chart of the time in which each operation ran. Empty for fewer than two operations. */
export function timeline(rows: readonly OperationRow[]): string {
  const bars = rows.flatMap(({ span, ...row }) => (span === undefined ? [] : [{ ...row, ...span }]));
  if (bars.length < 2) return '';
  const shown = bars.slice(0, maxBars).sort((one, other) => one.from - other.from);
  const first = Math.min(...shown.map(({ from }) => from));
  const last = Math.max(...shown.map(({ to }) => to));
  // Mermaid does not draw a bar of length 0, so each bar gets at least 1 % of the width.
  const shortest = Math.max(1, Math.ceil((last - first) / 100));
  const lines = shown.map(({ phase, status, action, branch, from, to }, index) => {
    // The status is a word, because colours alone do not tell it to everybody.
    const label = [index + 1, ...[status, action, branch].map(mermaidWord)].join(' ').trim();
    return `  ${label} :${tags[phase]}${from}, ${Math.max(to, from + shortest)}`;
  });
  return ['```mermaid', 'gantt', '  dateFormat x', '  axisFormat %H:%M:%S', ...lines, '```', ''].join('\n');
}

/** Keeps only characters without a meaning in Mermaid. The caller puts a number in front, so no text is a keyword. */
function mermaidWord(text: string): string {
  return text
    .replace(/[^A-Za-z0-9_.-]+/g, ' ')
    .trim()
    .slice(0, 40);
}
