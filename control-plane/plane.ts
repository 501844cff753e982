import { Account, type AccountOptions, type ApiKey, wasAlive } from './account.js';
import { type Limit, Limiter } from './limiter.js';
import type { NotShown } from './not-shown.js';
import { isListed, isVisible, type Operation, type OperationPlan, operationJson } from './operation.js';
import { readPageRequest, turnPage } from './paging.js';
import { integerBelow, seededRandom } from './random.js';
import { badRequest, errorBody, notFound, Refusal } from './refusal.js';
import { type Replica, recentMs, upToDate } from './replica.js';
import { readBranchName, readKeyName } from './request-body.js';
import { type Endpoint, findRoute, queryOf } from './routes.js';
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

interface Branch {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
}

interface Call {
  readonly request: PlaneRequest;
  readonly parameters: readonly string[];
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
  readonly #branches = new Map<string, Branch>();
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
    const parameters = route.parameters.map(decodeParameter);
    const body = this.#endpoints[route.endpoint]({ request, parameters });
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
    'create-key': ({ request }) => {
      const name = readKeyName(request.headers['content-type'], request.body);
      const { id, key } = this.addKey(name);
      return withId(id, { key });
    },

    'list-keys': () => `[${this.#listedKeys.map((key) => this.#keyItem(key))}]`,

    'revoke-key': ({ parameters: [id = ''] }) => {
      if (!/^\d+$/.test(id)) throw badRequest('The key id must be an integer.');
      const key = this.key(id);
      const again = key?.revokedAt !== undefined && this.notShown.revokedAgain === 'not-found';
      if (!key || key.createdAt > (this.#keysAt ?? key.createdAt) || again) throw notFound('There is no such API key.');
      this.revokeKey(id);
      return withId(key.id, { name: key.name, revoked: true, ...this.#lastUse(key) });
    },

    'list-projects': ({ request }) => {
      const { projectsPageSize } = this.notShown;
      if (projectsPageSize === 0) return `{"projects":${this.projectsJson}}`;
      const page = readPageRequest(queryOf(request.target), projectsPageSize, this.notShown);
      const { items, pagination } = turnPage(this.projectTimeline, page, () => true, this.notShown);
      return JSON.stringify({ projects: items.map(({ record }) => record), pagination });
    },

    'list-operations': ({ request, parameters: [projectId = ''] }) => {
      const page = readPageRequest(queryOf(request.target), this.notShown.defaultPageSize, this.notShown);
      const timeline = this.operationTimeline(projectId);
      if (!timeline) throw notFound('There is no such project.');
      const { items, pagination } = turnPage(timeline, page, (item) => this.#lists(item), this.notShown);
      const operations = items.map((item) => operationJson(item, this.#operationsAt));
      return `{"operations":[${operations}],"pagination":${JSON.stringify(pagination)}}`;
    },

    'get-operation': ({ parameters: [projectId = '', id = ''] }) => {
      if (!isUuid.test(id)) throw badRequest('The operation id must be a UUID.');
      if (!this.hasProject(projectId)) throw notFound('There is no such project.');
      const operation = this.operation(projectId, id.toLowerCase(), this.#operationsAt);
      if (!operation || !this.#shows(operation)) throw notFound('There is no such operation.');
      return `{"operation":${operationJson(operation, this.#operationsAt)}}`;
    },

    'create-branch': ({ request, parameters: [projectId = ''] }) => {
      if (!this.hasProject(projectId)) throw notFound('There is no such project.');
      const name = readBranchName(request.body);
      const creation = this.startOperation({ projectId, ...this.newOperations });
      const id = creation.branchId;
      const compute = { projectId, branchId: id, action: 'start_compute', ...this.newOperations };
      const branch = { id, project_id: projectId, name: name ?? id };
      this.#branches.set(id, branch);
      return this.#changed(branch, [creation, this.startOperation(compute)]);
    },

    'delete-branch': ({ parameters: [projectId = '', id = ''] }) => {
      const branch = this.#branches.get(id);
      if (branch?.project_id !== projectId) throw notFound('There is no such branch.');
      this.#branches.delete(id);
      const deletion = { projectId, branchId: id, action: 'delete_timeline', ...this.newOperations };
      return this.#changed(branch, [this.startOperation(deletion)]);
    },
  };

  #changed(branch: Branch, started: readonly Operation[]): string {
    const operations = started.map((operation) => operationJson(operation, this.clock.now()));
    return `{"branch":${JSON.stringify(branch)},"operations":[${operations}]}`;
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
    const created_at = formatTimestamp(key.createdAt * 1000);
    return withId(key.id, { name: key.name, created_at, ...this.#lastUse(key) });
  }

  #lastUse({ lastUsedAt, lastUsedFrom }: ApiKey): Readonly<Record<string, unknown>> {
    if (lastUsedAt !== undefined) {
      return { last_used_at: formatTimestamp(lastUsedAt * 1000), last_used_from_addr: lastUsedFrom };
    }
    return this.notShown.neverUsed === 'null' ? { last_used_at: null, last_used_from_addr: null } : {};
  }
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
