import type { ProjectRecord } from './seed.js';
import { formatTimestamp, type Micros } from './timestamp.js';

/** The person who made each key. */
export const creator = {
  id: '3f1c9d52-6b0e-4a57-9c8e-2d4b7a1f6e03',
  name: 'Kim',
  image: 'https://images.example/kim.png',
};

const usage = { active_time_seconds: 0, compute_time_seconds: 0, written_data_bytes: 0, data_transfer_bytes: 0 };

/** A project alone has more fields than in a list. */
export function projectAlone(record: ProjectRecord) {
  const { created_at } = record;
  return {
    locked: false,
    ...record,
    ...usage,
    data_storage_bytes_hour: 0,
    history_retention_seconds: 86_400,
    consumption_period_start: created_at,
    consumption_period_end: created_at,
  };
}

export type Branch = ReturnType<typeof makeBranch>;

/** Without a parent, it is the default branch. */
export function makeBranch(
  own: { readonly id: string; readonly project_id: string; readonly name: string; readonly parent_id?: string },
  createdMicros: Micros,
) {
  const createdAt = formatTimestamp(createdMicros);
  const isDefault = own.parent_id === undefined;
  return {
    ...own,
    default: isDefault,
    primary: isDefault,
    protected: false,
    current_state: 'ready',
    state_changed_at: createdAt,
    creation_source: 'console',
    cpu_used_sec: 0,
    ...usage,
    created_at: createdAt,
    updated_at: createdAt,
  };
}
