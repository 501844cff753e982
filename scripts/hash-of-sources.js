// Prints a hash of all that `dist` is made from. dist/package.json holds the one that it was made from.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export function hashOfSources() {
  const hash = createHash('sha256');
  const folders = ['src', 'vendor'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, path = parentPath, name }) => join(path, name).replaceAll('\\', '/')),
  );
  for (const path of ['package-lock.json', 'scripts/bundle.js', 'tsconfig.json', ...folders.sort()])
    hash.update(`${path}\n`).update(readFileSync(path, 'utf8').replaceAll('\r\n', '\n')).update('\0');
  return hash.digest('hex');
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(hashOfSources());
