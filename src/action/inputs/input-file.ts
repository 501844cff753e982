import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { BadValue, quote, rejectLeftover } from './input-values.js';

/** Reads a file that an earlier step wrote. A relative path starts at `folder`. No error quotes the file, because it can hold a secret. */
export function readInputFile(path: string, folder: string, maxBytes: number): string {
  if (/^[{[]/.test(path)) throw new BadValue('is JSON; expected the path of a file that contains it', true);
  const file = resolve(folder, rejectLeftover(path));
  try {
    const stat = statSync(file);
    // Reading a pipe would block until the writer closes it.
    if (!stat.isFile()) throw new BadValue('is not a regular file; expected the file that an earlier step wrote');
    if (stat.size > maxBytes) throw new BadValue(`is larger than ${maxBytes / 2 ** 20} MiB`);
    const bytes = readFileSync(file);
    // Windows PowerShell redirects output as UTF-16. TextDecoder removes the byte order mark that some shells write.
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
  } catch (error) {
    if (error instanceof BadValue) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new BadValue(
      `cannot be read (${code ?? 'no reason given'}, looked for ${quote(file, 300)}); expected a file that an earlier step of this job wrote`,
    );
  }
}
