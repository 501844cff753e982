export interface Example {
  readonly command: string;
  readonly output: string;
}

/** The commands of a section, in order, each with the output that the page shows. */
export function examplesOf(page: string, section: string): Example[] {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  const blocks = [...own.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    [...block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command = '', output = '']) => ({ command, output })),
  );
}

/** The same for two runs: without times, and without the random parts of a key name. */
export function shape(output: string): string {
  return output
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/ *\b\d+(?:\.\d+)?(?:ms|s)\b/g, ' <duration>')
    .replaceAll(/-[a-z0-9]{10}-[a-z0-9]{12}\)/g, '-<random>)');
}
