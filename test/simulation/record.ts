import type { ApiKey, Fault } from '../../control-plane/index.js';
import { endpointOf } from '../../control-plane/routes.js';
import type { Toolkit } from '../../src/action/toolkit.js';
import type { HttpRequest, HttpResponse } from '../../src/http/exchange.js';
import { postStateName } from '../../src/keys/post-state-name.js';
import type { Plan, StepPlan } from './plan.js';
import type { Stage } from './stage.js';

export type Fields = Readonly<Record<string, unknown>>;

function parseFields(text: string): Fields | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

export type SentRequest = ReturnType<typeof sentRequest>;

/** A request of a process, and its result. Times are milliseconds of the run. */
export function sentRequest(n: number, at: number, { method, url, headers, body = '' }: Omit<HttpRequest, 'maxBytes'>) {
  const path = url.pathname + url.search;
  let json: Fields | undefined;
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
    fault: undefined as Fault['kind'] | 'closed-on-arrival' | 'outage' | undefined,
    response: undefined as HttpResponse | undefined,
    error: undefined as string | undefined,
    /** For all that the client can know. */
    mayHaveTakenEffect: true,
    endedAt: undefined as number | undefined,
    get status(): number {
      return this.response?.status ?? 0;
    },
    /** The JSON of a whole response with a status of success. */
    get json(): Fields | undefined {
      if (this.isGood) json ??= parseFields(this.response?.body ?? '');
      return json;
    },
    /** The operation, or those of the list, in a whole response with a status of success. */
    get records(): Fields[] | undefined {
      const operation = this.json?.['operation'];
      const records = operation === undefined ? this.json?.['operations'] : [operation];
      return Array.isArray(records) ? records.filter((one) => typeof one === 'object' && one !== null) : undefined;
    },
    /** A list that says it is not whole. */
    get isPartial(): boolean {
      const unavailable = this.json?.['unavailable_project_ids'];
      return this.response?.headers['link'] !== undefined || (Array.isArray(unavailable) && unavailable.length > 0);
    },
    /** Operations: whole, and with all that their records need. */
    get isUsable(): boolean {
      const isComplete = ({ status }: Fields) => typeof status === 'string' && status !== '';
      return this.records?.every(isComplete) === true && !this.isPartial;
    },
    get isGood(): boolean {
      return this.status >= 200 && this.status < 300;
    },
    get isPage(): boolean {
      const { body = '', headers = {} } = this.response ?? {};
      return /^\s*<(!doctype|html)/i.test(body) || /html/.test(headers['content-type'] ?? '');
    },
    /** A 4xx that the service or its proxy will say again. An HTML page does not come from the service. */
    get isRejection(): boolean {
      const isFinal = this.status >= 400 && this.status < 500 && ![408, 423, 425, 429].includes(this.status);
      return (isFinal && !this.isPage) || this.error?.includes('407') === true;
    },
    /** Whether the service may have made a key for it, for all that the client can know. */
    get isAmbiguousCreate(): boolean {
      const isRefused = this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 409;
      return this.method === 'POST' && this.mayHaveTakenEffect && (!isRefused || this.isPage);
    },
    /** Milliseconds of a `Retry-After`. A date counts from the response's own date, because clocks differ. */
    get retryAfter(): number | undefined {
      const { 'retry-after': value, date = '' } = this.response?.headers ?? {};
      if (value === undefined) return undefined;
      return /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.parse(date);
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

export type Part = 'main' | 'post';
export type ProcessRecord = ReturnType<typeof processRecord>;

export function processRecord(part: Part, startedAt: number) {
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
    deletesOf: (id: string) => sent.filter(({ deletedId }) => deletedId === id),
  };
}

export type StepRecord = ReturnType<typeof stepRecord>;

export function stepRecord(plan: StepPlan, main: ProcessRecord, stage: Stage) {
  const isState = ({ kind, name }: Message) => kind === 'state' && name === postStateName;
  const state = main.messages.findLast(isState)?.text ?? '';
  return {
    plan,
    main,
    /** As main saved it last. */
    state,
    post: undefined as ProcessRecord | undefined,
    get processes(): ProcessRecord[] {
      return this.post === undefined ? [main] : [main, this.post];
    },
    /** The header with the key that main was given. */
    parent: `Bearer ${plan.inputs['api-key']}`,
    /** The same, if post has that key, too. */
    get parentInPost(): string | undefined {
      const { inputs, environment } = plan.post;
      const given = [inputs['api-key'], environment['CTL_API_KEY']].map((key) => `Bearer ${key}`);
      return given.find((key) => key === this.parent);
    },
    /** The keys that this step made. */
    get keys(): ApiKey[] {
      const creates = main.sent.filter(({ method, body }) => method === 'POST' && body !== '');
      const names = new Set(creates.map(({ body }) => JSON.parse(body).key_name));
      return stage.keys().filter(({ name }) => names.has(name));
    },
    /** The keys that the state holds: main has received them. */
    get minted(): ApiKey[] {
      return this.keys.filter(({ id, key }) => state.includes(key) && state.includes(`"${id}"`));
    },
    deadline: plan.timeoutMs === 0 ? Number.POSITIVE_INFINITY : main.startedAt + plan.timeoutMs,
  };
}

export interface Run {
  readonly plan: Plan;
  readonly stage: Stage;
  readonly steps: readonly StepRecord[];
}
