import { RequestError } from '../../http/errors.js';
import { sanitizeId } from '../../text/sanitize-line.js';

/** The response announces operations that no request can read, so the list never proves that a project is idle. */
export class IncompleteList extends RequestError {
  constructor(projectId: string, missing: string) {
    super(
      `The list of operations of project ${sanitizeId(projectId)} is incomplete: ${missing}. An unfinished operation may be missing from the list`,
      { status: 200, transient: false },
    );
  }
}
