import { operationFields } from '../../api/records.js';

/** Fields that `filter` may name in a wait for `all`: the other ones change during the wait. */
export const fieldsToWaitBy: readonly string[] = operationFields.filter(
  (name) => !['status', 'failures_count', 'updated_at'].includes(name),
);

const changes = 'it changes while the operation is under way';
export const fieldsUnderWay = { status: changes, failures_count: changes, updated_at: changes };
