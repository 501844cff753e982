import { createKeyMode } from './create-key.js';
import { listKeysMode, listOperationsMode, listProjectsMode } from './list/lists.js';
import { define } from './mode.js';
import { revokeKeyMode } from './revoke-key.js';
import { sendRequestReport } from './send-request/report.js';
import { sendRequest } from './send-request/send-request.js';
import { readSendRequestSettings } from './send-request/settings.js';
import { sweepKeysMode } from './sweep-keys/sweep-keys.js';
import { waitOperationMode } from './wait-operation/report.js';

/** All modes. Error messages list them in this order. */
export const modes = {
  'wait-operation': waitOperationMode,
  'send-request': define({
    read: readSendRequestSettings,
    run: sendRequest,
    report: sendRequestReport,
    concludesItself: true,
  }),
  'list-operations': listOperationsMode,
  'list-projects': listProjectsMode,
  'create-key': createKeyMode,
  'list-keys': listKeysMode,
  'revoke-key': revokeKeyMode,
  'sweep-keys': sweepKeysMode,
};
