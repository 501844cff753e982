import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const action = (run: string) => `
inputs: { name: {}, pattern: {}, path: {}, if-no-files-found: {} }
runs:
  using: composite
  steps:
    - shell: bash
      run: ${run}
      env: { NAME: "\${{ inputs.name }}", PATTERN: "\${{ inputs.pattern }}", FILE: "\${{ inputs.path }}" }
`;

/** Options of act: stand-ins for the actions that keep artifacts, in place of those that the workflow names. */
export function artifactOptions(workflow: string, root: string): string[] {
  const store = join(root, 'artifacts');
  mkdirSync(store);
  const commands = {
    upload: `if test -e "$FILE"; then mkdir -p '${store}'/"$NAME" && cp "$FILE" '${store}'/"$NAME"; fi`,
    download: `for one in '${store}'/$PATTERN; do if test -e "$one"; then mkdir -p "$FILE" && cp -r "$one" "$FILE"; fi; done`,
  };
  return Object.entries(commands).flatMap(([verb, command]) => {
    const [uses] = new RegExp(`actions/${verb}-artifact@\\w+`).exec(workflow) ?? [];
    if (uses === undefined) return [];
    const folder = join(root, verb);
    mkdirSync(folder);
    writeFileSync(join(folder, 'action.yml'), action(command));
    return ['--local-repository', `${uses}=${folder}`];
  });
}
