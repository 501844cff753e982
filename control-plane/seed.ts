import type { OperationPlan } from './operation.js';
import { integerBelow, pick, type Random } from './random.js';
import { formatTimestamp, type Micros } from './timestamp.js';

const qualities = ['bright', 'calm', 'cold', 'green', 'late', 'misty', 'quiet', 'steep', 'wide', 'young'] as const;
const things = ['bay', 'brook', 'cloud', 'field', 'forest', 'hill', 'lake', 'meadow', 'river', 'stone'] as const;
const regions = ['eu-central', 'eu-west', 'us-east', 'us-west'] as const;

/** The documented actions, and whether they have an endpoint. */
const actions = {
  apply_config: true,
  apply_storage_config: false,
  check_availability: true,
  create_branch: false,
  create_timeline: false,
  delete_tenant: false,
  delete_timeline: false,
  start_compute: true,
  suspend_compute: true,
} as const;

const frequentActions = [
  'start_compute',
  'suspend_compute',
  'check_availability',
  'create_branch',
  'apply_config',
] as const;

export const documentedActions = Object.keys(actions);

export function hasEndpoint(action: string): boolean {
  return Object.entries(actions).some(([name, has]) => name === action && has);
}

export function inventName(random: Random): string {
  return `${pick(random, qualities)}-${pick(random, things)}-${String(integerBelow(random, 1e8)).padStart(8, '0')}`;
}

export interface ProjectRecord extends Readonly<Record<string, unknown>> {
  readonly id: string;
}

/** A project as lists show it: the service leaves out `locked`. */
export function inventProject(
  random: Random,
  id: string,
  organizationId: string,
  createdMicros: Micros,
): ProjectRecord {
  const region = pick(random, regions);
  const createdAt = formatTimestamp(createdMicros);
  return {
    id,
    name: pick(random, things),
    platform_id: 'cloud',
    region_id: `cloud-${region}`,
    provisioner: 'k8s-pod',
    pg_version: 14 + integerBelow(random, 4),
    cpu_used_sec: integerBelow(random, 1e6),
    active_time: 0,
    proxy_host: `${region}.db.example`,
    branch_logical_size_limit: 512,
    branch_logical_size_limit_bytes: 512 * 2 ** 20,
    store_passwords: true,
    creation_source: 'console',
    owner_id: organizationId,
    org_id: organizationId,
    compute_last_active_at: createdAt,
    created_at: createdAt,
    updated_at: createdAt,
  };
}

/** An operation that ended long ago. */
export function inventPast(random: Random, ageMs: number): OperationPlan {
  return {
    action: pick(random, frequentActions),
    ageMs,
    lengthMs: 500 + integerBelow(random, 30_000),
    outcome: random() < 0.05 ? 'failed' : 'finished',
  };
}
