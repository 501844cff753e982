import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** These run the sources. All others run `dist`, and on a stale one they would judge the code of before. */
const ofSources = /^test\/(unit|contract)\b/;

/** Ends a run of tests before the first one if `dist` is stale. */
export default function requireFreshDist(): void {
  const chosen = process.argv.slice(2).filter((word) => word.startsWith('test/'));
  if (chosen.length > 0 && chosen.every((path) => ofSources.test(path))) return;
  const { sources } = JSON.parse(readFileSync('dist/package.json', 'utf8'));
  const now = execFileSync(process.execPath, ['scripts/hash-of-sources.js'], { encoding: 'utf8' }).trim();
  if (sources === now) return;
  console.error('dist is stale, because its sources have changed. Run “npm run build”, then the tests.');
  process.exit(1);
}
