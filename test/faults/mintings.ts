import type { Fault, FaultRule } from '../control-plane/index.js';
import type { Account } from './account.js';
import type { Subject } from './subject.js';

const lostCreate: FaultRule = { endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers' } };
const revokeMeets = (fault: Fault): FaultRule => ({ endpoint: 'revoke-key', nth: 1, fault });

/** Green only with a key that works. */
function worksNot({ main, aliveBetween }: Account): string | undefined {
  const { key, 'key-id': id, 'key-name': name } = main.result.outputs;
  const works = aliveBetween.some((one) => one.key === key && one.id === id && one.name === name);
  if (!works) return 'its key does not work';
  return main.result.masks.includes(key ?? '') ? undefined : 'its key is not masked';
}

function minting(name: string, more: Partial<Subject>, inputs: Readonly<Record<string, string>> = {}): Subject {
  return {
    name: name === '' ? 'create-key' : `create-key, ${name}`,
    hasPost: true,
    ...more,
    set: () => ({ inputs: { mode: 'create-key', 'export-env': exported, ...inputs }, falsehood: worksNot }),
  };
}

export const exported = 'DATABASE_CONTROL_KEY';

export const mintings: readonly Subject[] = [
  // Those whose post takes its 20 s by design first.
  minting('a create unclear', {
    inMain: [lostCreate],
    isPlace: ({ stage, nth, endpoint }) => stage === 'main' || nth === 1 || (endpoint === 'list-keys' && nth === 2),
  }),
  minting('a create unclear, and post without the parent key', {
    inMain: [lostCreate],
    inputsOfPost: { 'api-key': '' },
    isPlace: ({ stage, nth }) => stage === 'post' && nth === 1,
  }),
  minting('killed at its create', {
    inMain: [{ endpoint: 'create-key', nth: 1, fault: { kind: 'hang-before-headers' } }],
    isKilled: true,
    isPlace: ({ stage, nth }) => stage === 'post' && nth === 1,
  }),
  minting('', {}),
  minting('to be kept', {}, { 'revoke-in-post': 'false' }),
  minting('the minted key refused in post', {
    inPost: [revokeMeets({ kind: 'status', status: 403 })],
    isPlace: ({ stage }) => stage === 'post',
  }),
  minting('the answer to its revocation lost', {
    inPost: [revokeMeets({ kind: 'cut-before-headers' })],
    isPlace: ({ stage }) => stage === 'post',
  }),
  minting('its key not found in post', {
    inPost: [revokeMeets({ kind: 'status', status: 404 })],
    isPlace: ({ stage }) => stage === 'post',
  }),
];
