import { UnreadableList } from '../api/paging.js';
import { ErrorInPlaceOfData } from '../api/parse-response.js';
import type { RequestError } from '../http/errors.js';

/** Returns advice for users on an error from the control API. */
export function adviceFor(error: RequestError): string {
  const { status } = error;
  if (status === undefined) return 'Check base-url, and the network and proxy of the runner. Then re-run the job.';
  if (status === 407)
    return 'Check the user and password in the proxy variable (https_proxy or HTTPS_PROXY), or add the host to no_proxy.';
  if (status === 423 || status === 429) return 'Re-run the job later, set a longer timeout, or run fewer jobs at once.';
  const isTemporary = (status === 408 || status === 425) && !error.isPage;
  if (status >= 500 || isTemporary || error instanceof ErrorInPlaceOfData)
    return 'The service has a problem: check its status page, then re-run the job.';
  if (error instanceof UnreadableList) return 'Check the list in the console, then re-run the job.';
  // A proxy may have sent the page, so its status says nothing about the service.
  if (error.isPage || status < 400)
    return 'Check that base-url is the URL of the control API (it usually ends in /v2). A proxy or a login page may have sent this response. If neither is the cause, the service may have changed its response format.';
  if (status === 401)
    return 'The API key was rejected: it may be mistyped, revoked, or for another service. Set api-key to a valid key.';
  if (status === 403)
    return 'The service forbids this request. Check the reason that it gives. If it gives none, use an API key of the account that owns the requested project or key.';
  if (status === 404)
    return 'Check project-id, if it is set (expected the id of the project, not its name), and base-url (it usually ends in /v2). A key without access gets 404 too: check that api-key belongs to the right account.';
  return 'The service rejected the request: check the inputs of this step.';
}
