import type { Clock } from './clock.js';
import {
  courseOf,
  endedCourse,
  failuresFor,
  isVisible,
  type Operation,
  type OperationPlan,
  stepAt,
} from './operation.js';
import { Timeline } from './paging.js';
import { characters, integerBelow, type Random, seededRandom, uuid } from './random.js';
import { type Branch, makeBranch } from './records.js';
import { hasEndpoint, inventName, inventPast, inventProject, type ProjectRecord } from './seed.js';
import type { Micros } from './timestamp.js';

export interface AccountOptions {
  readonly clock: Clock;
  readonly seed: number;
  readonly projects: number;
  /** Number of past operations in each project. */
  readonly operations: number;
  /** The secret of the first key. Default: made from the seed. */
  readonly apiKey: string | undefined;
  readonly firstKeyId: bigint;
}

export interface ApiKey {
  /** Digits, not a number: ids may be beyond 2^53. */
  readonly id: string;
  readonly name: string;
  /** The secret. */
  readonly key: string;
  readonly owner: KeyOwner;
  readonly createdAt: number;
  revokedAt: number | undefined;
  lastUsedAt: number | undefined;
  lastUsedFrom: string | undefined;
}

export type KeyOwner = 'person' | 'organization';

interface Project {
  readonly createdMicros: Micros;
  readonly record: ProjectRecord;
  readonly seed: number;
  /** Created at the first read: 100,000 histories take long, and few are read. */
  history: History | undefined;
}

interface History {
  readonly timeline: Timeline<Operation>;
  readonly byId: Map<string, Operation>;
  readonly branches: Map<string, Branch>;
}

/** `at`: the time of a replica that lags. A key of the future, which tests can make, is alive in the truth. */
export function wasAlive({ createdAt, revokedAt }: ApiKey, at: number | undefined): boolean {
  if (at === undefined) return revokedAt === undefined;
  return createdAt <= at && at < (revokedAt ?? Number.POSITIVE_INFINITY);
}

const secretAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
const lastStatuses = ['finished', 'skipped', 'failed', 'error', 'cancelled'];
const dayMs = 86_400_000;
/** The youngest age of an invented operation, and the longest gap between two. */
const pastGapMs = 15 * 60_000;

/** The data of the service: keys, projects and operations. A test can change them without the API. */
export class Account {
  readonly clock: Clock;
  /** The first key, as from the service's console. */
  readonly apiKey: string;
  /** All projects belong to it. */
  readonly organizationId: string;
  readonly #random: Random;
  readonly #keys = new Map<string, ApiKey>();
  readonly #keysBySecret = new Map<string, ApiKey>();
  readonly #secrets: Random;
  #nextKeyId: bigint;
  /** The keys whose id another key has by now. A replica that lags still shows them. */
  readonly #formerKeys: ApiKey[] = [];
  readonly #freeIds: string[] = [];
  readonly #pastOperations: number;
  protected readonly startedAt: number;
  readonly #projects = new Map<string, Project>();
  readonly #projectTimeline = new Timeline<Project>();
  #projectsJson: string | undefined;

  constructor(options: AccountOptions) {
    this.clock = options.clock;
    this.#random = seededRandom(options.seed);
    this.#pastOperations = options.operations;
    this.startedAt = this.clock.now();
    this.#secrets = seededRandom(options.seed + 1);
    this.#nextKeyId = options.firstKeyId;
    this.organizationId = `org-${inventName(seededRandom(options.seed + 3))}`;
    this.apiKey = this.addKey('console', options.apiKey).key;
    for (let count = options.projects; count > 0; count--) this.#insertProject(count * 60_000 + 30 * dayMs, {});
  }

  // Keys

  addKey(name: string, secret?: string): ApiKey {
    return this.#insertKey(this.#freeIds.shift() ?? String(this.#nextKeyId++), name, 0, secret);
  }

  addOrganizationKey(name: string): ApiKey {
    return this.#insertKey(String(this.#nextKeyId++), name, 0, undefined, 'organization');
  }

  addKeyOfAge(name: string, ageMs: number): ApiKey {
    return this.#insertKey(String(this.#nextKeyId++), name, ageMs);
  }

  /** Revokes the key, and gives its id to a new one, as some services do. */
  reuseId(id: string, name: string): ApiKey {
    this.revokeKey(id);
    return this.#insertKey(id, name, 0);
  }

  /** Revokes the key. The next new key gets its id. */
  freeId(id: string): void {
    this.revokeKey(id);
    this.#freeIds.push(id);
  }

  /** Also a revoked one. */
  key(id: string): ApiKey | undefined {
    return this.#keys.get(id);
  }

  /** Also a revoked one. */
  keyOfSecret(secret: string): ApiKey | undefined {
    return this.#keysBySecret.get(secret);
  }

  /** Oldest first. */
  aliveKeys(name?: string, at?: number): ApiKey[] {
    const alive = [...this.#formerKeys, ...this.#keys.values()].filter((key) => wasAlive(key, at));
    return name === undefined ? alive : alive.filter((key) => key.name === name);
  }

  isAlive(id: string): boolean {
    const key = this.key(id);
    return key !== undefined && key.revokedAt === undefined;
  }

  revokeKey(id: string): void {
    const key = this.key(id);
    if (key) key.revokedAt ??= this.clock.now();
  }

  // Projects

  /** Newest first, as the API lists them. */
  get projectIds(): string[] {
    return this.#projectTimeline.page(undefined, Number.POSITIVE_INFINITY).items.map(({ record }) => record.id);
  }

  hasProject(id: string): boolean {
    return this.#projects.has(id);
  }

  /** The fields replace those of an invented record. */
  addProject(fields: Readonly<Record<string, unknown>> & { readonly id?: string } = {}): ProjectRecord {
    return this.#insertProject(0, fields).record;
  }

  /** With all its operations. */
  removeProject(id: string): void {
    const project = this.#projects.get(id);
    if (!project) return;
    this.#projects.delete(id);
    this.#projectTimeline.remove(project);
    this.#projectsJson = undefined;
  }

  project(id: string): ProjectRecord | undefined {
    return this.#projects.get(id)?.record;
  }

  get projectTimeline(): Timeline<Project> {
    return this.#projectTimeline;
  }

  /** The JSON array of all projects, kept while they do not change: it may have megabytes. */
  get projectsJson(): string {
    this.#projectsJson ??= JSON.stringify(
      this.#projectTimeline.page(undefined, Number.POSITIVE_INFINITY).items.map(({ record }) => record),
    );
    return this.#projectsJson;
  }

  /** By id; the default branch is the first. */
  branchesOf(projectId: string): Map<string, Branch> | undefined {
    return this.#historyOf(projectId)?.branches;
  }

  // Operations

  /** Default: in the first project. */
  startOperation(plan: OperationPlan & { readonly projectId?: string } = {}): Operation {
    const projectId = plan.projectId ?? this.#projectTimeline.page(undefined, 1).items[0]?.record.id;
    const history = projectId === undefined ? undefined : this.#historyOf(projectId);
    if (projectId === undefined || history === undefined)
      throw new Error(`There is no project ${projectId ?? 'at all'}.`);
    return this.#insertOperation(projectId, history, this.clock.now(), plan, this.#random);
  }

  /** Ends it now, despite its plan. */
  endOperation(operation: Operation, status = 'finished'): void {
    operation.course = endedCourse(operation, this.clock.now(), status);
    operation.failuresCount = failuresFor(status);
  }

  removeOperation(operation: Operation): void {
    const history = this.#projects.get(operation.projectId)?.history;
    history?.timeline.remove(operation);
    history?.byId.delete(operation.id);
  }

  /** One that the API shows at that time. */
  operation(projectId: string, id: string, at = this.clock.now()): Operation | undefined {
    const operation = this.#historyOf(projectId)?.byId.get(id);
    return operation && isVisible(operation, at) ? operation : undefined;
  }

  hasUnfinished(projectId: string): boolean {
    const operations = [...(this.#historyOf(projectId)?.byId.values() ?? [])];
    return operations.some((operation) => !lastStatuses.includes(this.statusOf(operation)));
  }

  /** The word that the API shows now. */
  statusOf(operation: Operation): string {
    return stepAt(operation, this.clock.now()).status;
  }

  operationTimeline(projectId: string): Timeline<Operation> | undefined {
    return this.#historyOf(projectId)?.timeline;
  }

  #insertKey(
    id: string,
    name: string,
    ageMs: number,
    secret = characters(this.#secrets, secretAlphabet, 64),
    owner: KeyOwner = 'person',
  ): ApiKey {
    const createdAt = this.clock.now() - ageMs;
    const unused = { revokedAt: undefined, lastUsedAt: undefined, lastUsedFrom: undefined };
    const key: ApiKey = { id, name, key: secret, owner, createdAt, ...unused };
    const former = this.#keys.get(id);
    if (former !== undefined) this.#formerKeys.push(former);
    this.#keys.set(id, key);
    this.#keysBySecret.set(secret, key);
    return key;
  }

  #insertProject(ageMs: number, fields: Readonly<Record<string, unknown>> & { readonly id?: string }): Project {
    let id = fields.id ?? inventName(this.#random);
    while (fields.id === undefined && this.#projects.has(id)) id = inventName(this.#random);
    const createdMicros = this.#projectTimeline.freeMoment((this.clock.now() - ageMs) * 1000);
    const record = Object.assign(inventProject(this.#random, id, this.organizationId, createdMicros), fields);
    const project = { createdMicros, record, seed: integerBelow(this.#random, 2 ** 32), history: undefined };
    this.#projects.set(id, project);
    this.#projectTimeline.insert(project);
    this.#projectsJson = undefined;
    return project;
  }

  #historyOf(projectId: string): History | undefined {
    const project = this.#projects.get(projectId);
    if (!project) return undefined;
    if (!project.history) {
      const main = { id: `br-${inventName(seededRandom(project.seed + 1))}`, project_id: projectId, name: 'main' };
      const branches = new Map([[main.id, makeBranch(main, project.createdMicros)]]);
      project.history = { timeline: new Timeline(), byId: new Map(), branches };
      const random = seededRandom(project.seed);
      for (let count = this.#pastOperations; count > 0; count--) {
        const ageMs = count * pastGapMs + integerBelow(random, pastGapMs);
        this.#insertOperation(projectId, project.history, this.startedAt, inventPast(random, ageMs), random);
      }
    }
    return project.history;
  }

  #insertOperation(
    projectId: string,
    { timeline, byId }: History,
    now: number,
    plan: OperationPlan,
    random: Random,
  ): Operation {
    const { action = 'create_branch', outcome = 'finished' } = plan;
    const endpointId = hasEndpoint(action) ? `ep-${inventName(random)}` : undefined;
    const operation: Operation = {
      id: plan.id ?? uuid(random),
      projectId,
      branchId: plan.branchId ?? `br-${inventName(random)}`,
      endpointId,
      action,
      createdMicros: timeline.freeMoment(Math.round((now - (plan.ageMs ?? 0)) * 1000)),
      course: courseOf(plan),
      failuresCount: plan.failuresCount ?? failuresFor(outcome),
      appearsAfterMs: plan.appearsAfterMs ?? 0,
      listedAfterMs: plan.listedAfterMs ?? 0,
      vanishesAfterMs: plan.vanishesAfterMs ?? Number.POSITIVE_INFINITY,
      fields: plan.fields ?? {},
      shown: undefined,
    };
    byId.set(operation.id, operation);
    timeline.insert(operation);
    return operation;
  }
}
