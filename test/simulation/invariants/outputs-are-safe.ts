import type { Run, StepRecord } from '../record.js';

/** A later step may print any output: none but the key, which is masked, holds what the runner takes for a command. */
export function outputsAreSafe(run: Run): string[] {
  return run.steps.flatMap(commandsIn);
}

function commandsIn({ main: { words, resultFile = '' } }: StepRecord): string[] {
  const outputs = words.filter(({ kind, name }) => kind === 'output' && name !== 'key');
  const problems = outputs
    .filter(({ text }) => text.includes('##[') || /^\s*::/m.test(text))
    .map(({ name }) => `a command in the output ${name}`);
  return resultFile.includes('##[') ? [...problems, 'a command in the result file'] : problems;
}
