import type { RequestError } from '../http/errors.js';

const adviceByStatus: Readonly<Record<number, string>> = {
  401: 'The API key was rejected: it may be mistyped, revoked, or for another service. Set api-key to a valid key.',
  403: 'The service forbids this request. Check the reason that it gives. If it gives none, use an API key of the account that owns the requested project or key.',
  404: 'Check the ids (project-id is the id of the project, not its name) and base-url (it usually ends in /v2). A key without access gets 404 too: check that api-key belongs to the right account.',
  407: 'Check the user and password in the proxy variable (https_proxy or HTTPS_PROXY), or add the host to no_proxy.',
};

export function adviceFor(error: RequestError): string {
  const { status, isPage } = error;
  if (status === undefined) return 'Check base-url, and the network and proxy of the runner. Then re-run the job.';
  if (error.isThrottled) return 'Re-run the job later, set a longer timeout, or run fewer jobs at once.';
  if (status >= 500 || error.isServiceStatus(408))
    return 'The service has a problem: check its status page, then re-run the job.';
  if (status < 300 && !isPage)
    return 'The response cannot be used. Re-run the job later. If this stays, check base-url (it usually ends in /v2), and report it to the service.';
  if (status < 400 || (isPage && status !== 407))
    return 'Check that base-url is the URL of the control API (it usually ends in /v2). A proxy or a login page may have sent this response.';
  if (status === 400 && error.message.includes('org_id')) return 'Set the input org-id.';
  return adviceByStatus[status] ?? 'The service rejected the request: check the inputs of this step.';
}
