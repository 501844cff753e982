import type { InputReader } from '../action/inputs/input-reader.js';
import type { CreateKeySettings } from './create-key/create-key.js';
import { readCreateKeySettings } from './create-key/settings.js';
import type { ListSettings } from './list/collect.js';
import type { ListOperationsSettings } from './list/operations.js';
import type { ListProjectsSettings } from './list/projects.js';
import { readListKeysSettings, readListOperationsSettings, readListProjectsSettings } from './list/settings.js';
import type { RevokeKeySettings } from './revoke-key/revoke-key.js';
import { readRevokeKeySettings } from './revoke-key/settings.js';
import { readSweepKeysSettings, type SweepKeysInputs } from './sweep-keys/settings.js';
import { readWaitSettings } from './wait-operation/settings.js';
import type { WaitSettings } from './wait-operation/waiter.js';

/** The settings of each mode: the inputs that not all modes share. */
export interface ModeSettings {
  'wait-operation': WaitSettings;
  'list-operations': ListOperationsSettings;
  'list-projects': ListProjectsSettings;
  'create-key': CreateKeySettings;
  'list-keys': ListSettings;
  'revoke-key': RevokeKeySettings;
  'sweep-keys': SweepKeysInputs;
}

export type ModeName = keyof ModeSettings;

/** A reader returns `undefined` if one of its inputs is invalid. An invalid input has no fallback value. */
export const settingsReaders: { readonly [M in ModeName]: (reader: InputReader) => ModeSettings[M] | undefined } = {
  'wait-operation': readWaitSettings,
  'list-operations': readListOperationsSettings,
  'list-projects': readListProjectsSettings,
  'create-key': readCreateKeySettings,
  'list-keys': readListKeysSettings,
  'revoke-key': readRevokeKeySettings,
  'sweep-keys': readSweepKeysSettings,
};
