import { parseFault } from './fault-notation.js';
import type { FaultPlan } from './faults.js';
import type { Repository } from './github/repository.js';
import { type Operation, operationJson } from './operation.js';
import type { ControlPlane, NextOperation, PlaneAnswer, PlaneRequest } from './plane.js';
import { badRequest, notFound, Refusal } from './refusal.js';
import { pathOf } from './routes.js';
import { documentedActions } from './seed.js';
import { formatTimestamp } from './timestamp.js';

/** The parts that the control endpoints change. */
export interface Controlled {
  readonly plane: ControlPlane;
  readonly faults: FaultPlan;
  readonly runs: Repository;
}

export const controlPath = '/control';
const dayMs = 86_400_000;

type Fields = Readonly<Record<string, string>>;

interface Command {
  readonly method: 'POST' | 'DELETE';
  readonly path: RegExp;
  readonly fields: readonly string[];
  /** Returns the answer; throws a Refusal. */
  carryOut(service: Controlled, fields: Fields, parameters: readonly string[]): object;
}

const commands: readonly Command[] = [
  {
    method: 'POST',
    path: /^\/projects\/([^/]+)\/operations$/,
    fields: ['action', 'seconds', 'outcome'],
    carryOut({ plane }, fields, [projectId = '']) {
      if (!plane.hasProject(projectId)) throw notFound(`There is no project '${projectId}'.`);
      const operation = plane.startOperation({
        projectId,
        ...plane.newOperations,
        ...readPlan(fields),
      });
      return shown(plane, operation);
    },
  },
  {
    method: 'POST',
    path: /^\/next-operation$/,
    fields: ['action', 'seconds', 'outcome'],
    carryOut({ plane }, fields) {
      plane.planNext(readPlan(fields));
      return { next_operation: fields };
    },
  },
  {
    method: 'POST',
    path: /^\/projects\/([^/]+)\/operations\/([^/]+)$/,
    fields: ['outcome'],
    carryOut({ plane }, { outcome = 'finished' }, [projectId = '', id = '']) {
      const operation = plane.operation(projectId, id);
      if (!operation) throw notFound(`Project '${projectId}' has no operation '${id}'.`);
      const status = oneOf('outcome', outcomes, outcome);
      const before = plane.statusOf(operation);
      if (outcomes.includes(before)) throw new Refusal(409, 'CONFLICT', `The operation is already ${before}.`);
      plane.endOperation(operation, status);
      return shown(plane, operation);
    },
  },
  {
    method: 'POST',
    path: /^\/keys$/,
    fields: ['name', 'days'],
    carryOut({ plane }, { name = '', days = '0' }) {
      if (name === '') throw badRequest('The field name is missing.');
      const { id, createdAt } = plane.addKeyOfAge(name, parseNumber('days', days) * dayMs);
      return { id: Number(id), name, created_at: formatTimestamp(createdAt * 1000) };
    },
  },
  {
    method: 'POST',
    path: /^\/faults$/,
    fields: ['rule'],
    carryOut({ faults }, { rule = '' }) {
      faults.add(orBadRequest(() => parseFault(rule)));
      return { faults: [rule] };
    },
  },
  {
    method: 'DELETE',
    path: /^\/faults$/,
    fields: [],
    carryOut({ faults }) {
      faults.clear();
      return { faults: [] };
    },
  },
  {
    method: 'POST',
    path: /^\/runs\/([^/]+)$/,
    fields: ['status', 'attempt'],
    carryOut({ runs }, { status = 'in_progress', attempt = '1' }, [id = '']) {
      oneOf('status', runStatuses, status);
      if (!/^[1-9]\d{0,2}$/.test(attempt))
        throw badRequest(`attempt must be a number from 1 to 999, not '${attempt}'.`);
      orBadRequest(() => runs.addRun({ id, status, attempt: Number(attempt) }));
      return { id, status, attempt: Number(attempt) };
    },
  },
];

export const outcomes: readonly string[] = ['finished', 'failed'];
const runStatuses = ['queued', 'in_progress', 'completed'];

/** Responds to a request to the control endpoints. */
export function answerControl(service: Controlled, request: PlaneRequest): PlaneAnswer {
  try {
    return answer(200, carryOut(service, request));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return answer(error.status, { message: error.message });
  }
}

function carryOut(service: Controlled, { method, target, headers, body }: PlaneRequest): object {
  const path = pathOf(target).slice(controlPath.length);
  for (const command of commands) {
    const matched = command.method === method && command.path.exec(path);
    if (!matched) continue;
    const [, ...parameters] = matched;
    return command.carryOut(service, readFields(headers['content-type'], body, command.fields), parameters);
  }
  throw notFound(`There is no ${method} ${controlPath}${path}. docs/control-plane.md lists what there is.`);
}

function readFields(contentType: string | undefined, body: string, known: readonly string[]): Fields {
  if (body !== '' && !contentType?.startsWith('application/x-www-form-urlencoded'))
    throw new Refusal(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be a form, as curl sends it with -d name=value.');
  const fields = Object.fromEntries(new URLSearchParams(body));
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw badRequest(`There is no field '${unknown}'; known are: ${known.join(', ') || 'none'}.`);
  return fields;
}

export function oneOf(name: string, choices: readonly string[], text: string): string {
  if (choices.includes(text)) return text;
  throw badRequest(`${name} must be one of ${choices.join(', ')}, not '${text}'.`);
}

export function parseNumber(name: string, text: string): number {
  if (!/^\d{1,6}(\.\d+)?$/.test(text)) throw badRequest(`${name} must be a number up to 999999, not '${text}'.`);
  return Number(text);
}

function readPlan({ action, seconds, outcome }: Fields): NextOperation {
  return {
    ...(action !== undefined && { action: oneOf('action', documentedActions, action) }),
    ...(seconds !== undefined && { lengthMs: parseNumber('seconds', seconds) * 1000 }),
    ...(outcome !== undefined && { outcome: oneOf('outcome', outcomes, outcome) }),
  };
}

function orBadRequest<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
}

function shown(plane: ControlPlane, operation: Operation): object {
  return { operation: JSON.parse(operationJson(operation, plane.clock.now())) };
}

function answer(status: number, value: object): PlaneAnswer {
  // A line of its own, for terminals.
  return { status, headers: { 'content-type': 'application/json' }, body: `${JSON.stringify(value)}\n` };
}
