import type { StepResult } from '../../runner/step.js';
import { type Account, isSound, type Ran } from '../account.js';
import { isBenign } from '../fault-sorts.js';
import { leftOf } from './keys.js';

const green = ['finished', 'ok', 'revoked', 'gone'];
const red = ['failed', 'timeout', 'error'];

/** Status, exit code and annotations say the same, and an error says what to do. */
export function ends(account: Account): string[] {
  const { main, post } = account;
  return [...endOfMain(account, main), ...(post === undefined ? [] : endOfPost(account, post))];
}

function endOfMain({ cell, setting }: Account, { result, signalled }: Ran): string[] {
  const { outputs, exitCode, conclusion, signal } = result;
  if (signal !== null) return signalled === undefined ? [`${signal} ended it`] : [];
  const status = outputs['status'] ?? '';
  const errors = errorsOf(result);
  const said = [...wrongErrors(result), ...result.invalid];
  const isSignalled = cell?.blow.kind === 'signal' && cell.place.stage === 'main';
  if (isSignalled && cell.blow.kind === 'signal' && cell.blow.when !== 'answered' && status !== 'cancelled')
    said.push(`it was cancelled, and says ${status}`);
  if (green.includes(status)) {
    if (exitCode !== 0 || conclusion !== 'success') said.push(`it says ${status} with exit code ${exitCode}`);
    if (errors.length > 0) said.push(`it says ${status}, and an error: ${errors[0]}`);
  } else if (status === 'cancelled') {
    if (exitCode !== 1) said.push(`it says cancelled with exit code ${exitCode}`);
    if (errors.length > 0) said.push(`it was cancelled, and tells of an error: ${errors[0]}`);
    if (signalled === undefined) said.push('it says cancelled, and was not');
  } else if (red.includes(status)) {
    if (exitCode !== 1 || conclusion !== 'failure') said.push(`it says ${status} with exit code ${exitCode}`);
    if (errors.length !== 1) said.push(`it says ${status}, and tells of ${errors.length} errors`);
  } else said.push(`it has no status, but ${JSON.stringify(status)}`);
  if (!green.includes(status) && setting.inputs['mode'] === 'create-key' && outputs['key'] !== '')
    said.push('it is red, and has a key');
  const warnings = result.annotations.filter(({ kind }) => kind === 'warning');
  if (cell === undefined && warnings.length > 0) said.push(`it warns of nothing: ${warnings[0]?.message}`);
  const results = ['count', 'operation-ids', 'project-ids', 'key-ids'].filter((name) => outputs[name] !== undefined);
  if (red.includes(status) && /^list-/.test(String(setting.inputs['mode'])) && results.length > 0)
    said.push(`it is red, and has ${results}`);
  return said;
}

/** What is left makes a warning, and the job goes on. */
function endOfPost(account: Account, { result, exchanges, signalled }: Ran): string[] {
  const { exitCode, conclusion, signal } = result;
  if (signal !== null) return signalled === undefined ? [`${signal} ended post`] : [];
  const said = [...wrongErrors(result), ...result.invalid];
  if (exitCode !== 0 || conclusion !== 'success') said.push(`post ended with exit code ${exitCode}`);
  const errors = errorsOf(result);
  if (errors.length > 0) said.push(`post tells of an error: ${errors[0]}`);
  const { cell } = account;
  const isSlow = cell?.blow.kind === 'fault' && isBenign(cell.blow.fault, 'post');
  const isQuiet = cell === undefined || isSlow || (cell.place.stage === 'main' && exchanges.every(isSound));
  const warnings = result.annotations.filter(({ kind, source }) => kind === 'warning' && source === 'action');
  if (isQuiet && leftOf(account).length === 0 && warnings.length > 0)
    said.push(`post warns of nothing: ${warnings[0]?.message}`);
  return said;
}

function errorsOf({ annotations }: StepResult): string[] {
  return annotations
    .filter(({ kind, source }) => kind === 'error' && source === 'action')
    .map(({ message }) => message);
}

const advice = /\b(look|check|run|put|use|set|raise|revoke)\b|\bIs base-url\b|actions: read/i;

/** An error or warning is for a person, who is to do something about it. */
function wrongErrors(result: StepResult): string[] {
  const alarms = result.annotations.filter(({ kind, source }) => kind !== 'notice' && source === 'action');
  return alarms.flatMap(({ message }) => [
    ...(advice.test(message) ? [] : [`this does not say what to do: ${message}`]),
    ...(/defect|undefined|\[object/.test(message) ? [`this is no word for a user: ${message}`] : []),
  ]);
}
