import type { StepRecord } from '../record.js';

/** A later step may print any output. None but the key, which is masked, contains a command of the runner. */
export function* outputsAreSafe({ main: { messages, resultFile } }: StepRecord): Generator<string> {
  for (const { kind, name, text } of messages)
    if (kind === 'output' && name !== 'key' && (text.includes('##[') || /^\s*::/m.test(text)))
      yield `a command in the output ${name}`;
  if (resultFile?.includes('##[')) yield 'a command in the result file';
}
