import { Account, type AccountOptions, type ApiKey, type KeyOwner, wasAlive } from './account.js';
import { type Limit, Limiter } from './limiter.js';
import type { NotShown } from './not-shown.js';
import { isListed, isVisible, type Operation, type OperationPlan, operationJson } from './operation.js';
import { readPageRequest, turnPage } from './paging.js';
import { integerBelow, seededRandom } from './random.js';
import { type Branch, creator, makeBranch, projectAlone } from './records.js';
import { badRequest, errorBody, notFound, Refusal } from './refusal.js';
import { type Replica, recentMs, upToDate } from './replica.js';
import { readBranchName, readKeyName } from './request-body.js';
import { type Endpoint, findRoute, type PathParameters, queryOf } from './routes.js';
import { formatTimestamp, httpDate } from './timestamp.js';

export interface PlaneRequest {
  readonly method: string;
  /** Path and query as they stand in the request line. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** Network address of the sender. */
  readonly from: string;
}

export interface PlaneAnswer {
  readonly status: number;
  /** Without Content-Length and Transfer-Encoding. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The course of operations that a request starts. */
export type NewOperations = Pick<OperationPlan, 'lengthMs' | 'outcome'>;

/** Without an action, the next of any action. */
export type NextOperation = Pick<OperationPlan, 'action' | 'lengthMs' | 'outcome'>;

export interface PlaneOptions extends AccountOptions {
  readonly notShown: NotShown;
  readonly newOperations: NewOperations;
  readonly replicas: readonly Replica[];
  /** Whether a replica decides which keys are valid. */
  readonly replicasAuthenticate: boolean;
  /** Chooses the copy that answers a request, in place of chance. `ms`: since the start of the service. */
  readonly replicaFor: ((request: PlaneRequest, ms: number) => Partial<Replica>) | undefined;
  readonly limit: Limit | undefined;
  /** How far the header `Date` is ahead of the truth. `absent`: there is none. */
  readonly dateAheadMs: number | 'absent';
}

interface Call {
  readonly request: PlaneRequest;
  readonly parameters: PathParameters;
}

/** The API as a state machine: it responds to a request at once. Apart from requests, only the clock changes it. */
export class ControlPlane extends Account {
  readonly notShown: NotShown;
  readonly newOperations: NewOperations;
  readonly replicas: readonly Replica[];
  readonly #replicasAuthenticate: boolean;
  readonly #replicaFor: PlaneOptions['replicaFor'];
  readonly #limiter: Limiter | undefined;
  readonly #dateAheadMs: number | 'absent';
  readonly #choice;
  readonly #nextOperations: NextOperation[] = [];
  /** Answers the current request. */
  #replica = upToDate;
  #requests = 0;

  constructor(options: PlaneOptions) {
    super(options);
    this.replicas = options.replicas;
    this.#replicasAuthenticate = options.replicasAuthenticate;
    this.#replicaFor = options.replicaFor;
    this.#limiter = options.limit && new Limiter(options.limit, this.clock.now());
    this.#dateAheadMs = options.dateAheadMs;
    this.#choice = seededRandom(options.seed + 2);
    this.notShown = options.notShown;
    this.newOperations = options.newOperations;
  }

  /** Changes the course of one operation that a request will start. */
  planNext(operation: NextOperation): void {
    this.#nextOperations.push(operation);
  }

  handle(request: PlaneRequest): PlaneAnswer {
    const index = integerBelow(this.#choice, this.replicas.length);
    const chosen = this.#replicaFor?.(request, this.clock.now() - this.startedAt);
    this.#replica = { ...upToDate, ...(chosen ?? this.replicas[index]) };
    const answer = this.#answer(request);
    return this.replicas.length === 0
      ? answer
      : { ...answer, headers: { ...answer.headers, 'x-replica': String(index + 1) } };
  }

  #answer(request: PlaneRequest): PlaneAnswer {
    try {
      return this.#carryOut(request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return this.errorAnswer(error.status, error.code, error.message, error.headers);
    }
  }

  /** An error in this service's shape. */
  errorAnswer(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): PlaneAnswer {
    const common = this.commonHeaders();
    const { contentType, body } = errorBody(this.notShown.errorBody, {
      code,
      message,
      request_id: common['x-request-id'],
    });
    return { status, headers: { ...common, 'content-type': contentType, ...headers }, body };
  }

  /** The headers of every response. */
  commonHeaders(): { readonly date?: string; readonly 'x-request-id': string } {
    const ahead = this.#dateAheadMs;
    const date = ahead === 'absent' ? {} : { date: httpDate(this.clock.now() + ahead) };
    return { ...date, 'x-request-id': `req-${++this.#requests}` };
  }

  /** The key of a request, also a revoked one. */
  keyOf(headers: PlaneRequest['headers']): ApiKey | undefined {
    const [, secret] = /^bearer +(\S+) *$/i.exec(headers['authorization'] ?? '') ?? [];
    return secret === undefined ? undefined : this.keyOfSecret(secret);
  }

  #carryOut(request: PlaneRequest): PlaneAnswer {
    if (this.#limiter?.admits(this.clock.now()) === false)
      throw new Refusal(429, 'TOO_MANY_REQUESTS', 'Too many requests.', this.#limiter.headers);
    this.#authenticate(request);
    const route = findRoute(request.method, request.target);
    if (route.kind === 'unknown-path') throw notFound('There is no such path.');
    if (route.kind === 'wrong-method') {
      const allow = route.allowed.join(', ');
      throw new Refusal(405, 'METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { allow });
    }
    const parameters = Object.fromEntries(
      Object.entries(route.parameters).map(([name, text]) => [name, decodeParameter(text)]),
    );
    const body = this.#endpoints[route.endpoint]({ request, parameters });
    if (body === '') return { status: 204, headers: this.commonHeaders(), body };
    const status = this.notShown.successStatus[route.endpoint] ?? 200;
    const hasMore = route.endpoint === 'list-keys' && this.#knownKeys.length > this.#listedKeys.length;
    const link = hasMore ? { link: `<${request.target}?page=2>; rel="next"` } : {};
    return { status, headers: { ...this.commonHeaders(), 'content-type': 'application/json', ...link }, body };
  }

  #authenticate({ headers, from }: PlaneRequest): void {
    const key = this.keyOf(headers);
    if (!key || !wasAlive(key, this.#replicasAuthenticate ? this.#keysAt : undefined)) {
      const message = 'The Authorization header is missing, or its key is invalid or revoked.';
      throw new Refusal(401, 'UNAUTHORIZED', message, { 'www-authenticate': 'Bearer' });
    }
    key.lastUsedAt = this.clock.now();
    key.lastUsedFrom = from;
  }

  readonly #endpoints: Readonly<Record<Endpoint, (call: Call) => string>> = {
    'create-key': ({ request, parameters }) => {
      const owner = this.#keyOwner(request, parameters);
      const name = readKeyName(request.headers['content-type'], request.body);
      const key = owner === 'organization' ? this.addOrganizationKey(name) : this.addKey(name);
      return withId(key.id, { key: key.key, name, created_at: createdAt(key), created_by: creator.id });
    },

    'list-keys': ({ request, parameters }) => {
      const owner = this.#keyOwner(request, parameters);
      const items = this.#listedKeys.filter((key) => key.owner === owner).map((key) => this.#keyItem(key));
      return `[${items}]`;
    },

    'revoke-key': ({ request, parameters }) => {
      const { key: id = '' } = parameters;
      const owner = this.#keyOwner(request, parameters);
      if (!/^\d+$/.test(id)) throw badRequest('The key id must be an integer.');
      const key = this.key(id);
      const again = key?.revokedAt !== undefined && this.notShown.revokedAgain === 'not-found';
      if (!key || key.owner !== owner || key.createdAt > (this.#keysAt ?? key.createdAt) || again)
        throw notFound('There is no such API key.');
      this.revokeKey(id);
      const { name } = key;
      const lastUse = this.#lastUse(key);
      return withId(id, { name, created_at: createdAt(key), created_by: creator.id, ...lastUse, revoked: true });
    },

    'list-projects': ({ request }) => {
      const { projectsPageSize } = this.notShown;
      if (projectsPageSize === 0) return `{"projects":${this.projectsJson}}`;
      const page = readPageRequest(queryOf(request.target), projectsPageSize, this.notShown);
      const { items, pagination } = turnPage(this.projectTimeline, page, () => true, this.notShown);
      return JSON.stringify({ projects: items.map(({ record }) => record), pagination });
    },

    'list-shared-projects': () => '{"projects":[],"pagination":{}}',

    'get-project': ({ parameters: { project = '' } }) => {
      const record = this.project(project);
      if (!record) throw notFound('There is no such project.');
      return JSON.stringify({ project: projectAlone(record) });
    },

    'list-branches': ({ parameters: { project = '' } }) =>
      JSON.stringify({ branches: [...this.#branches(project).values()], annotations: {}, pagination: {} }),

    'get-branch': ({ parameters: { project = '', branch: id = '' } }) => {
      const branch = this.#branches(project).get(id);
      if (!branch) throw notFound('There is no such branch.');
      return JSON.stringify({ branch });
    },

    'list-operations': ({ request, parameters: { project = '' } }) => {
      const page = readPageRequest(queryOf(request.target), this.notShown.defaultPageSize, this.notShown);
      const timeline = this.operationTimeline(project);
      if (!timeline) throw notFound('There is no such project.');
      const { items, pagination } = turnPage(timeline, page, (item) => this.#lists(item), this.notShown);
      const operations = items.map((item) => operationJson(item, this.#operationsAt));
      return `{"operations":[${operations}],"pagination":${JSON.stringify(pagination)}}`;
    },

    'get-operation': ({ parameters: { project = '', operation: id = '' } }) => {
      if (!isUuid.test(id)) throw badRequest('The operation id must be a UUID.');
      if (!this.hasProject(project)) throw notFound('There is no such project.');
      const operation = this.operation(project, id.toLowerCase(), this.#operationsAt);
      if (!operation || !this.#shows(operation)) throw notFound('There is no such operation.');
      return `{"operation":${operationJson(operation, this.#operationsAt)}}`;
    },

    'create-branch': ({ request, parameters: { project = '' } }) => {
      const branches = this.#branches(project);
      const name = readBranchName(request.body);
      this.#refuseIfLocked(project);
      const creation = this.#start({ projectId: project, action: 'create_branch' });
      const id = creation.branchId;
      const [parent_id = ''] = branches.keys();
      const branch = makeBranch({ id, project_id: project, parent_id, name: name ?? id }, creation.createdMicros);
      branches.set(id, branch);
      const compute = this.#start({ projectId: project, branchId: id, action: 'start_compute' });
      return this.#changed(branch, [creation, compute]);
    },

    'delete-branch': ({ parameters: { project = '', branch: id = '' } }) => {
      const branches = this.#branches(project);
      const branch = branches.get(id);
      if (!branch) return '';
      if (branch.default) throw new Refusal(422, 'UNPROCESSABLE', 'The default branch cannot be deleted.');
      this.#refuseIfLocked(project);
      branches.delete(id);
      return this.#changed(branch, [this.#start({ projectId: project, branchId: id, action: 'delete_timeline' })]);
    },
  };

  /** Whose keys the request is about. A key of the organization has no person, so `/api_keys` is a 404 for it. */
  #keyOwner({ headers }: PlaneRequest, { organization }: PathParameters): KeyOwner {
    const isKnown =
      organization === undefined ? this.keyOf(headers)?.owner === 'person' : organization === this.organizationId;
    if (!isKnown) throw notFound('There is no such organization, or the key is not that of a person.');
    return organization === undefined ? 'person' : 'organization';
  }

  #branches(projectId: string): Map<string, Branch> {
    const branches = this.branchesOf(projectId);
    if (!branches) throw notFound('There is no such project.');
    return branches;
  }

  #refuseIfLocked(projectId: string): void {
    if (!this.hasUnfinished(projectId)) return;
    throw new Refusal(
      423,
      'LOCKED',
      'An operation of the project is unfinished. Repeat the request when it has ended.',
    );
  }

  #start(plan: OperationPlan & { readonly projectId: string; readonly action: string }): Operation {
    const index = this.#nextOperations.findIndex(({ action = plan.action }) => action === plan.action);
    const [next] = index < 0 ? [] : this.#nextOperations.splice(index, 1);
    return this.startOperation({ ...this.newOperations, ...next, ...plan });
  }

  #changed(branch: Branch, started: readonly Operation[]): string {
    const operations = started.map((operation) => operationJson(operation, this.clock.now()));
    return `{"branch":${JSON.stringify(branch)},"endpoints":[],"connection_uris":[],"operations":[${operations}]}`;
  }

  get #operationsAt(): number {
    return this.clock.now() - this.#replica.operationsBehindMs;
  }

  #shows(operation: Operation): boolean {
    const isOld = operation.createdMicros / 1000 < this.startedAt - recentMs;
    const isMissing = isOld && this.clock.now() < this.startedAt + this.#replica.historyAfterMs;
    return !isMissing && isVisible(operation, this.#operationsAt);
  }

  #lists(operation: Operation): boolean {
    return this.#shows(operation) && isListed(operation, this.#operationsAt);
  }

  get #keysAt(): number | undefined {
    const { keysBehindMs } = this.#replica;
    return keysBehindMs === 0 ? undefined : Math.max(this.startedAt, this.clock.now() - keysBehindMs);
  }

  get #knownKeys(): ApiKey[] {
    return this.aliveKeys(undefined, this.#keysAt);
  }

  get #listedKeys(): ApiKey[] {
    const { keysPageSize } = this.notShown;
    return keysPageSize === 0 ? this.#knownKeys : this.#knownKeys.slice(0, keysPageSize);
  }

  #keyItem(key: ApiKey): string {
    const { id, name } = key;
    return withId(id, { name, created_at: createdAt(key), created_by: creator, ...this.#lastUse(key) });
  }

  #lastUse({ lastUsedAt, lastUsedFrom }: ApiKey): Readonly<Record<string, unknown>> {
    if (lastUsedAt !== undefined) {
      return { last_used_at: formatTimestamp(lastUsedAt * 1000), last_used_from_addr: lastUsedFrom };
    }
    return this.notShown.neverUsed === 'null' ? { last_used_at: null, last_used_from_addr: '' } : {};
  }
}

function createdAt(key: ApiKey): string {
  return formatTimestamp(key.createdAt * 1000);
}

const isUuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** JSON.stringify cannot print an id beyond 2^53 with all its digits. */
function withId(id: string, fields: Readonly<Record<string, unknown>>): string {
  return `{"id":${id},${JSON.stringify(fields).slice(1)}`;
}

function decodeParameter(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest('The path is not URL-encoded.');
  }
}
