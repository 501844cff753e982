import { field, type Recorded } from '../api/records.js';
import { plain } from '../text/plain.js';
import { momentOf } from './moment.js';

/**
 * A project in the summary. Texts are sanitized, and host names left out, because summaries of public repositories are
 * public.
 */
export interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly region: string;
  readonly version: string;
  readonly created: string;
}

export function projectRowOf(project: Recorded): ProjectRow {
  return {
    id: plain(project.id, 80),
    name: plain(field(project, 'name') ?? '', 80),
    region: plain(field(project, 'region_id') ?? '', 60),
    version: plain(field(project, 'pg_version') ?? '', 20),
    created: momentOf(project, 'created_at'),
  };
}

const mostValues = 10;

/** The most frequent values come first. */
export function tallyOf(
  projects: readonly Recorded[],
  by: 'region' | 'version',
): { readonly counts: readonly (readonly [string, number])[]; readonly others: number } {
  const counts = new Map<string, number>();
  for (const project of projects) {
    const value = field(project, by === 'region' ? 'region_id' : 'pg_version') ?? '';
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  const rest = sorted.slice(mostValues).reduce((sum, [, number]) => sum + number, 0);
  const shown = sorted.slice(0, mostValues).map(([value, number]) => [plain(value, 40), number] as const);
  return { counts: shown, others: rest };
}
