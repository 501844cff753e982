export function getExecOutput(): never;
