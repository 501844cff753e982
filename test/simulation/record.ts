import type { ApiKey, Exchange, Fault } from '../../control-plane/index.js';
import { endpointOf } from '../../control-plane/routes.js';
import type { Toolkit } from '../../src/action/toolkit.js';
import type { HttpRequest, HttpResponse } from '../../src/http/exchange.js';
import type { Plan, StepPlan } from './plan.js';
import type { Stage } from './stage.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Integers beyond 2^53 become strings. */
export function parseJson(text: string): unknown {
  return JSON.parse(text.replace(/(?<=[[:,]\s*)-?\d{16,}(?=\s*[\],}])/g, '"$&"'));
}

export type SentRequest = ReturnType<typeof sentRequest>;

/** A request of a process, and its result. Times are milliseconds of the run. */
export function sentRequest(n: number, at: number, { method, url, headers, body = '' }: Omit<HttpRequest, 'maxBytes'>) {
  const path = url.pathname + url.search;
  let json: unknown;
  return {
    n,
    at,
    method,
    origin: url.origin,
    path,
    authorization: headers['authorization'] ?? '',
    /** Empty if the service closed the connection before it read the body. */
    body,
    endpoint: endpointOf(method, path),
    list: url.pathname,
    hasCursor: url.searchParams.has('cursor'),
    projectId: /\/projects\/([^/?]+)/.exec(path)?.[1],
    deletedId: method === 'DELETE' ? /\/api_keys\/(\d+)$/.exec(path)?.[1] : undefined,
    /** The service's own record of it, if it arrived. */
    arrived: undefined as Exchange | undefined,
    fault: undefined as Fault['kind'] | 'closed-on-arrival' | 'outage' | 'limit' | undefined,
    response: undefined as HttpResponse | undefined,
    error: undefined as string | undefined,
    /** For all that the client can know. */
    mayHaveTakenEffect: true,
    endedAt: undefined as number | undefined,
    get status(): number {
      return this.response?.status ?? 0;
    },
    /** The JSON of a whole response with a status of success. */
    get json(): unknown {
      if (this.response === undefined || this.status < 200 || this.status >= 300) return undefined;
      try {
        json ??= parseJson(this.response.body);
        return json;
      } catch {
        return undefined;
      }
    },
    /** The operation, or those of the list, in a whole response with a status of success. */
    get records(): Fields[] | undefined {
      const body = this.json as Fields | null | undefined;
      const list = Array.isArray(body) ? body : body?.[this.endpoint.slice('list-'.length)];
      const operation = body?.['operation'];
      const records = this.endpoint === 'get-operation' ? operation && [operation] : list;
      return Array.isArray(records) ? records.filter((one) => typeof one === 'object' && one !== null) : undefined;
    },
    /** Not whole, and the response says so. */
    get isPartial(): boolean {
      if (this.fault !== 'partial-list' || this.records === undefined) return false;
      const { unavailable_project_ids: unavailable } = this.json as Fields;
      const isAnnounced = this.response?.headers['link'] !== undefined;
      return isAnnounced || (Array.isArray(unavailable) && unavailable.length > 0);
    },
    /** A key that is missing from an incomplete list may exist. */
    get keyList(): 'whole' | 'incomplete' | undefined {
      if (this.endpoint !== 'list-keys' || this.status !== 200 || !Array.isArray(this.json)) return undefined;
      return this.response?.headers['link'] === undefined ? 'whole' : 'incomplete';
    },
    /** The service itself rejects the request, and has not carried it out. An HTML page does not come from the service. */
    get isRejection(): boolean {
      return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 409 && !this.isPage;
    },
    get isPage(): boolean {
      const { body = '', headers = {} } = this.response ?? {};
      return /^\s*<(!doctype|html)/i.test(body) || /html/.test(headers['content-type'] ?? '');
    },
    /** Not a retry: the service or its proxy will say the same again. */
    get isPermanent(): boolean {
      const isTooLarge = this.error?.includes('larger than the maximum') === true;
      const isFinal = this.status >= 300 && this.status < 500 && ![408, 423, 425, 429].includes(this.status);
      const isRetriedPage = this.isPage && this.status >= 400 && this.status !== 407;
      return (isFinal && !isRetriedPage) || isTooLarge || this.error?.includes('407') === true;
    },
    get isThrottled(): boolean {
      return this.status === 423 || this.status === 425 || this.status === 429;
    },
    /** Whole, and with all that its records need. */
    get isUsable(): boolean {
      const isComplete = ({ status }: Fields) => typeof status === 'string' && status !== '';
      return this.records?.every(isComplete) === true && !this.isPartial;
    },
    /** Not what the service itself would have responded, in time. */
    get isFaulty(): boolean {
      return this.response === undefined || (this.fault !== undefined && this.fault !== 'close-on-next-request');
    },
    /** Milliseconds of a `Retry-After`. A date counts from the response's own date, because clocks differ. */
    get retryAfter(): number | undefined {
      const { 'retry-after': value, date = '' } = this.response?.headers ?? {};
      if (value === undefined) return undefined;
      return /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.parse(date);
    },
    get retryAt(): number {
      return (this.endedAt ?? 0) + (this.retryAfter ?? 0);
    },
  };
}

export type MessageKind = Exclude<keyof Toolkit, 'input'>;

/** What a process prints, or writes to the files of the runner. */
export interface Message {
  readonly at: number;
  readonly kind: MessageKind;
  readonly name: string;
  readonly text: string;
}

export type ProcessRecord = ReturnType<typeof processRecord>;

export function processRecord(part: 'main' | 'post', startedAt: number) {
  const sent: SentRequest[] = [];
  const messages: Message[] = [];
  return {
    part,
    startedAt,
    sent,
    messages,
    endedAt: Number.NaN,
    /** `hung`: the process had to be killed. */
    exit: 1 as 0 | 1 | 'killed' | 'hung',
    signalledAt: undefined as number | undefined,
    crash: undefined as string | undefined,
    resultFile: undefined as string | undefined,
    /** Whether the runner did not accept a message. */
    runnerFailed: false,
    output: (name: string) => messages.findLast((one) => one.kind === 'output' && one.name === name)?.text,
    ids(name: string): string[] {
      return JSON.parse(this.output(name) || '[]');
    },
    texts: (...kinds: MessageKind[]) => messages.flatMap(({ kind, text }) => (kinds.includes(kind) ? [text] : [])),
    get status(): string {
      return this.output('status') ?? 'none';
    },
    /** Each warning or error of post says that a key may be alive, but one about the summary. */
    get alarms(): string[] {
      return this.texts('warning', 'error').filter((text) => !text.includes('summary'));
    },
    /** Whether nothing kept the process from its own end and its messages. */
    get endedByItself(): boolean {
      return (this.exit === 0 || this.exit === 1) && !this.runnerFailed;
    },
    /** An incomplete list does not count if a later response to the same request was complete. */
    get hasIncompleteList(): boolean {
      const isIncomplete = (one: SentRequest) => one.keyList === 'incomplete' || one.isPartial;
      const isReadAgain = ({ n, path }: SentRequest) =>
        sent.some((one) => one.n > n && one.path === path && one.json !== undefined && !isIncomplete(one));
      return sent.some((one) => isIncomplete(one) && !isReadAgain(one));
    },
    get ambiguousCreates(): number {
      return sent.filter((one) => one.method === 'POST' && one.mayHaveTakenEffect && !one.isRejection).length;
    },
    deletesOf: (id: string) => sent.filter(({ deletedId }) => deletedId === id),
  };
}

export type StepRecord = ReturnType<typeof stepRecord>;

/** `state`: as main left it. */
export function stepRecord(plan: StepPlan, main: ProcessRecord, state: string, stage: Stage) {
  return {
    plan,
    main,
    state,
    post: undefined as ProcessRecord | undefined,
    get processes(): ProcessRecord[] {
      return this.post === undefined ? [main] : [main, this.post];
    },
    /** The header with the key that main was given. */
    parent: `Bearer ${plan.inputs['api-key'] ?? plan.environment['CTL_API_KEY']}`,
    /** The same, if post has that key, too. */
    get parentInPost(): string | undefined {
      const { inputs, environment } = plan.post;
      const given = [inputs['api-key'], environment['CTL_API_KEY']].map((key) => `Bearer ${key}`);
      return given.find((key) => key === this.parent);
    },
    /** The keys that the state holds: main has received them. */
    get minted(): ApiKey[] {
      return this.keys.filter(({ id, key }) => state.includes(key) && state.includes(`"${id}"`));
    },
    deadline: plan.timeoutMs === 0 ? Number.POSITIVE_INFINITY : main.startedAt + plan.timeoutMs,
    get keys(): ApiKey[] {
      const creates = main.sent.filter(({ method, body }) => method === 'POST' && body !== '');
      const names = new Set(creates.map(({ body }) => JSON.parse(body).key_name));
      return stage.keys().filter(({ name }) => names.has(name));
    },
    /** The pause of a wait before its next poll. */
    pauseAt: (time: number): number => {
      const interval = Number.parseInt(plan.inputs['poll-interval'] ?? '', 10) * 1_000;
      return interval || Math.min(3_300, Math.max(500, (time - main.startedAt) / 4));
    },
  };
}

export interface Run {
  readonly plan: Plan;
  readonly stage: Stage;
  readonly steps: readonly StepRecord[];
}
