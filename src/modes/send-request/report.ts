import { explain, failureReport } from '../../action/failure-report.js';
import { paragraph } from '../../action/markdown.js';
import { RequestError } from '../../http/errors.js';
import { sanitizeId, sanitizeLine } from '../../text/sanitize-line.js';
import { sentences } from '../../text/sentences.js';
import { DeadlineExceeded } from '../../time/deadline.js';
import { define } from '../mode.js';
import { waitReport } from '../wait-operation/report.js';
import { sendRequest } from './send-request.js';
import { readSendRequestSettings } from './settings.js';

export const sendRequestMode = define({
  read: readSendRequestSettings,
  run: sendRequest,
  concludesItself: true,
  report: (result, { request }, facts) => {
    const { response } = result;
    const what = `${request.method} /${sanitizeLine(request.path.split('?')[0] ?? '', 120)}`;
    if (result.wait !== undefined) {
      const report = waitReport(result.wait, result.waitSettings, facts);
      return { ...report, details: paragraph(what) + report.details, response };
    }
    const { failure, mayBeDone, projectId } = result;
    const failed = failureReport(failure, facts.timeout);
    // A throttled request ends the step only if its `Retry-After` exceeds the deadline.
    const isThrottled = failure instanceof RequestError && failure.isThrottled;
    const isLate = failure instanceof DeadlineExceeded || isThrottled;
    const report = { ...failed, status: isLate ? 'timeout' : failed.status, response };
    if (!mayBeDone) return report;
    const project = projectId === undefined ? '' : `, project-id: ${sanitizeId(projectId)}`;
    const doubt = sentences(
      `${what} may have been carried out, so the step does not send it again`,
      `To wait for what it may have started, run a step with mode: wait-operation, operation-id: all${project}`,
    );
    // The usual advice would be to run the job again.
    if (report.error !== undefined) return { ...report, error: sentences(explain(failure, facts.timeout).what, doubt) };
    return { ...report, headline: 'Cancelled; the request may have been carried out', details: paragraph(doubt) };
  },
});
