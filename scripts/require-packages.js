// What compiles needs the packages; without them, one sentence says what to do.
import { existsSync } from 'node:fs';

if (!existsSync('node_modules/typescript')) {
  console.error('The packages are not installed: run `npm ci` first.');
  process.exit(1);
}
