import type { OperationRow } from '../../words/operation.js';

const mostBars = 30;
const tags = { failed: 'crit, ', pending: 'active, ', succeeded: 'done, ' };

/** When each operation ran, as a Mermaid chart; nothing where there is too little to compare. */
export function timeline(rows: readonly OperationRow[]): string {
  const bars = rows.flatMap(({ span, ...row }) => (span === undefined ? [] : [{ ...row, ...span }]));
  if (bars.length < 2) return '';
  const shown = bars.slice(0, mostBars).sort((one, other) => one.from - other.from);
  const first = Math.min(...shown.map(({ from }) => from));
  const last = Math.max(...shown.map(({ to }) => to));
  // A bar of no length is not drawn.
  const shortest = Math.max(1, Math.ceil((last - first) / 100));
  const lines = shown.map(({ phase, action, branch, from, to }, index) => {
    const label = `${index + 1} ${word(action)} ${word(branch)}`.trim();
    return `  ${label} :${tags[phase]}${from}, ${Math.max(to, from + shortest)}`;
  });
  return ['```mermaid', 'gantt', '  dateFormat x', '  axisFormat %H:%M:%S', ...lines, '```', ''].join('\n');
}

/** Only what Mermaid takes for a plain word; a number before it keeps it from being a keyword. */
function word(text: string): string {
  return text
    .replace(/[^A-Za-z0-9_.-]+/g, ' ')
    .trim()
    .slice(0, 40);
}
