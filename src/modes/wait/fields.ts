import { operationFields } from '../../api/records.js';

/** What a wait for `all` can be filtered by. */
export const fieldsToWaitBy: readonly string[] = operationFields.filter(
  (name) => !['status', 'failures_count', 'updated_at'].includes(name),
);

const changes = 'it changes while the operation is under way';
export const fieldsUnderWay = { status: changes, failures_count: changes, updated_at: changes };
