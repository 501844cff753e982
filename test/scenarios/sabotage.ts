import { fileURLToPath } from 'node:url';

/** Arguments of Node that load a fixture before the action. */
export function sabotage(fixture: string): readonly string[] {
  return ['--require', fileURLToPath(new URL(`fixtures/${fixture}.cjs`, import.meta.url))];
}

/** The back-off between tries is short; all else is as it is. */
export const quickDice = sabotage('quick-dice');
