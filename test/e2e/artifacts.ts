import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const upload = (store: string) => `
inputs: { name: {}, path: {}, if-no-files-found: {} }
runs:
  using: composite
  steps:
    - shell: bash
      run: if test -e "$FROM"; then mkdir -p '${store}'/"$NAME" && cp "$FROM" '${store}'/"$NAME"; fi
      env: { NAME: "\${{ inputs.name }}", FROM: "\${{ inputs.path }}" }
`;

const download = (store: string) => `
inputs: { pattern: {}, path: {} }
runs:
  using: composite
  steps:
    - shell: bash
      run: for one in '${store}'/$PATTERN; do if test -e "$one"; then mkdir -p "$TO" && cp -r "$one" "$TO"; fi; done
      env: { PATTERN: "\${{ inputs.pattern }}", TO: "\${{ inputs.path }}" }
`;

/** Options of act: stand-ins for the actions that keep artifacts, in place of those that the workflow names. */
export function artifactOptions(workflow: string, root: string): string[] {
  const store = join(root, 'artifacts');
  mkdirSync(store);
  return Object.entries({ upload, download }).flatMap(([verb, text]) => {
    const [uses] = new RegExp(`actions/${verb}-artifact@\\w+`).exec(workflow) ?? [];
    if (uses === undefined) return [];
    const folder = join(root, verb);
    mkdirSync(folder);
    writeFileSync(join(folder, 'action.yml'), text(store));
    return ['--local-repository', `${uses}=${folder}`];
  });
}
