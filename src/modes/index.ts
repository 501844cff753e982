import { createKeyMode } from './create-key.js';
import { listKeysMode, listOperationsMode, listProjectsMode } from './list/lists.js';
import { revokeKeyMode } from './revoke-key.js';
import { sendRequestMode } from './send-request.js';
import { sweepKeysMode } from './sweep-keys/sweep-keys.js';
import { waitOperationMode } from './wait-operation/report.js';

/** All modes. Error messages list them in this order. */
export const modes = {
  'wait-operation': waitOperationMode,
  'send-request': sendRequestMode,
  'list-operations': listOperationsMode,
  'list-projects': listProjectsMode,
  'create-key': createKeyMode,
  'list-keys': listKeysMode,
  'revoke-key': revokeKeyMode,
  'sweep-keys': sweepKeysMode,
};
