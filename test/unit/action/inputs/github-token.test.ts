import { expect, it } from 'vitest';
import { defaults } from '../../../../src/action/inputs/input-reader.js';
import { maskParentKey, readInputs } from '../../../../src/action/inputs/inputs.js';
import { Secrets } from '../../../../src/action/secrets.js';
import { modes } from '../../../../src/modes/index.js';

const parentKey = 'parent-key-0123456789abcdef';
const environment = {
  CTL_API_KEY: parentKey,
  CTL_BASE_URL: 'https://control.test/v2',
  GITHUB_STATE: 'state',
  GITHUB_OUTPUT: 'output',
  GITHUB_RUN_ID: '1',
  GITHUB_REPOSITORY: 'acme/shop',
};
const needed = { 'project-id': 'p', 'operation-id': 'all', 'key-id': '7' };

function read(mode: string, token: string) {
  const given: Readonly<Record<string, string>> = { ...needed, mode, 'github-token': token };
  const asked = new Set<string>();
  const input = (name: string) => {
    asked.add(name);
    return given[name] ?? '';
  };
  const secrets = new Secrets(() => undefined);
  maskParentKey(input, environment, secrets);
  const inputs = readInputs(modes, input, environment, secrets);
  return { asked, warnings: inputs.warnings() };
}

const others = ['wait-operation', 'list-operations', 'list-projects', 'create-key', 'list-keys', 'revoke-key'];

it.each(others)('%s does not read github-token, whatever it holds', (mode) => {
  const { asked, warnings } = read(mode, parentKey);
  expect([...asked].sort()).toEqual(
    Object.keys(defaults)
      .filter((name) => name !== 'github-token')
      .sort(),
  );
  expect(warnings.join()).not.toContain('github-token');
});

it('sweep-keys reads it, and refuses it where it holds the parent key, which would go to GitHub', () => {
  expect(read('sweep-keys', 'a-token-of-the-job').asked).toContain('github-token');
  expect(() => read('sweep-keys', parentKey)).toThrow(/github-token: contains the API key/);
});
