// People often try the demo or the control plane first, before they install the packages.
import { existsSync } from 'node:fs';

if (!existsSync('node_modules/typescript')) {
  console.error('The packages are not installed: run `npm ci` first.');
  process.exit(1);
}
// stdout belongs to the program that follows.
console.error('Compiling. This takes some seconds.');
