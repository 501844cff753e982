import { failureReport, failureText } from '../../action/failure-report.js';
import { paragraph } from '../../action/markdown.js';
import { RetryAfterExceedsDeadline } from '../../http/errors.js';
import { sanitizeId, sanitizeLine } from '../../text/sanitize-line.js';
import { sentences } from '../../text/sentences.js';
import { DeadlineExceeded } from '../../time/deadline.js';
import type { Report } from '../mode.js';
import { waitReport } from '../wait-operation/report.js';
import type { SendRequestResult } from './send-request.js';
import type { SendRequestSettings } from './settings.js';

export const sendRequestReport: Report<SendRequestResult, SendRequestSettings> = (result, { request }, facts) => {
  const what = `${request.method} /${sanitizeLine(request.path.split('?')[0] ?? '', 120)}`;
  if (result.done !== undefined) {
    const { wait, waitSettings, response } = result.done;
    const report = waitReport(wait, waitSettings, facts);
    return { ...report, details: paragraph(what) + report.details, response };
  }
  const { failure, mayBeDone, projectId, response } = result;
  const report = { ...failureReport(failure, facts.timeout), ...(response === undefined ? {} : { response }) };
  const isLate = failure instanceof DeadlineExceeded || failure instanceof RetryAfterExceedsDeadline;
  const status = isLate ? 'timeout' : report.status;
  if (!mayBeDone) return { ...report, status };
  const project = projectId === undefined ? '' : `, project-id: ${sanitizeId(projectId)}`;
  const doubt = sentences(
    `${what} may have been carried out, so the step does not send it again`,
    `To wait for what it may have started, run a step with mode: wait-operation, operation-id: all${project}`,
  );
  // A cancelled step has no error text.
  if (report.error === undefined)
    return {
      ...report,
      status,
      headline: 'Cancelled; the request may have been carried out',
      details: paragraph(doubt),
    };
  // The usual advice would be to run the job again.
  return { ...report, status, error: sentences(failureText(failure, facts.timeout), doubt) };
};
