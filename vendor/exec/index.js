export function getExecOutput() {
  throw new Error('platform.getDetails() is not part of this bundle.');
}
