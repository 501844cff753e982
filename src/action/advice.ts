import type { RequestError } from '../http/errors.js';

/**
 * Tells the user how to fix an error of the control API. `namesProject`: whether the mode has the input `project-id`.
 */
export function adviceFor(error: RequestError, namesProject: boolean): string {
  const { status } = error;
  if (status === 401)
    return 'The key is not accepted: it may be mistyped, of another account, or revoked. Put one that works into api-key.';
  if (status === 403) return 'The key may not do this. Use a key of the account that owns what the step is about.';
  if (status === 404)
    return `Check ${namesProject ? 'base-url and project-id' : 'base-url'}. A key without access gets 404 too: is it a key of the right account?`;
  if (status === 407)
    return 'Check the user and password in the variable of the proxy (https_proxy), or add the host to no_proxy.';
  if (status === 423 || status === 429)
    return 'Run the step again later, with a longer timeout, or with fewer jobs at once.';
  if (status !== undefined && status >= 400 && status < 500)
    return 'The service does not take the request: look at the inputs of this step.';
  if (status !== undefined && status >= 500)
    return 'The service has a problem: look at its status page, and run the step again.';
  if (status !== undefined)
    return 'Is base-url that of the control API? A proxy or a login page may stand in between; else the answers of the service have changed.';
  return 'Look at base-url, and at the network and the proxy of the runner; then run the step again.';
}
