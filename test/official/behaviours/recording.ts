import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Observation } from './behaviour.js';

const path = resolve('test/official/behaviours/recorded.json');

/** What the worker of GitHub's runner did, by claim. */
export function readRecording(): Readonly<Record<string, Observation>> {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** A behaviour a line, so that a difference shows whole. */
export function writeRecording(entries: readonly (readonly [claim: string, observation: unknown])[]): void {
  const lines = entries.map(([claim, observation]) => `${JSON.stringify(claim)}: ${JSON.stringify(observation)}`);
  writeFileSync(path, `{\n${lines.join(',\n')}\n}\n`);
}
