// The demo and the control plane are what people try first, maybe before an installation.
import { existsSync } from 'node:fs';

if (!existsSync('node_modules/typescript')) {
  console.error('The packages are not installed: run `npm ci` first.');
  process.exit(1);
}
