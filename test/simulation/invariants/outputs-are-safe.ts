import type { Run } from '../record.js';

/** A later step may print any output. None but the key, which is masked, contains a command of the runner. */
export function outputsAreSafe({ steps }: Run): string[] {
  return steps.flatMap(({ main: { messages, resultFile = '' } }) => {
    const outputs = messages.filter(({ kind, name }) => kind === 'output' && name !== 'key');
    const unsafe = outputs.filter(({ text }) => text.includes('##[') || /^\s*::/m.test(text));
    const problems = unsafe.map(({ name }) => `a command in the output ${name}`);
    return resultFile.includes('##[') ? [...problems, 'a command in the result file'] : problems;
  });
}
