import { httpDate } from '../../../control-plane/timestamp.js';
import { TransportError } from '../../../src/http/errors.js';
import type { Exchange, HttpRequest, HttpResponse } from '../../../src/http/exchange.js';
import type { OnCancel } from '../../../src/time/deadline.js';
import type { VirtualClock } from '../../virtual/clock.js';
import type { KeyWorld, Wrong } from './world.js';

export const parentKey = 'parent-key-of-the-account';
export const tripMs = 50;
const tenMinutes = 600_000;

/** Times are milliseconds of the world. */
export interface TrueKey {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  readonly createdAt: number;
  revokedAt: number;
}

type Part = 'main' | 'post';
type Request = Omit<HttpRequest, 'maxBytes'>;

/** A request, with what only the service knows. */
export interface Sent extends Request {
  readonly part: Part;
  readonly at: number;
  readonly wrong: Wrong | '401' | undefined;
  endedAt: number | undefined;
  status: number | undefined;
}

/** The keys of an account, as copies of its data show them. It is much faster than the control plane. */
export function serveKeys(world: KeyWorld, clock: VirtualClock) {
  const { unknown, accepted, copies, again, says, faults = [], outages = [] } = world;
  const keys: TrueKey[] = [];
  const sent: Sent[] = [];
  const began = { main: 0, post: Number.POSITIVE_INFINITY };

  function add(name: string, secret = `secret-${keys.length}-of-a-key-of-this-account`): TrueKey {
    const id = String(700_101 + keys.length);
    const key = { id, name, secret, createdAt: clock.now(), revokedAt: Number.POSITIVE_INFINITY };
    keys.push(key);
    return key;
  }

  /** Whether the copy that answers takes the key for a valid one. */
  function knows({ createdAt, revokedAt }: TrueKey, isCopy: boolean): boolean {
    const now = clock.now();
    const [later, longer] = isCopy ? [unknown * 1_000, accepted * 1_000] : [0, 0];
    // Keys of others are known everywhere.
    return (createdAt === 0 || createdAt + later <= now) && now < revokedAt + longer;
  }

  function respond(status: number, body: string, type = 'application/json'): HttpResponse {
    const jump = world.clocks === 'service jumps' && clock.now() >= began.post ? tenMinutes : 0;
    const date = world.clocks === 'no date' ? {} : { date: httpDate(clock.epochMs() + jump) };
    return { status, headers: { ...date, 'content-type': type }, body };
  }

  const refuse = (status: number) => respond(status, '{"message":"No."}');

  function carryOut({ method, url, headers, body = '' }: Request, isCopy: boolean): HttpResponse {
    const secret = headers['authorization']?.slice('Bearer '.length);
    const own = keys.find((key) => key.secret === secret);
    if (own === undefined || !knows(own, isCopy)) return refuse(401);
    if (method === 'POST') {
      const { id, secret: key } = add(JSON.parse(body).key_name);
      return respond(200, `{"id":${id},"key":"${key}"}`);
    }
    if (method === 'GET') return respond(200, JSON.stringify(keys.flatMap((key) => itemOf(key, isCopy))));
    const key = keys.find(({ id }) => url.pathname.endsWith(`/${id}`));
    const isUnknown = key === undefined || (key.revokedAt > clock.now() && !knows(key, isCopy));
    if (isUnknown || (key.revokedAt <= clock.now() && again === 404)) return refuse(404);
    key.revokedAt = Math.min(key.revokedAt, clock.now());
    return says === 'revoked' ? respond(200, `{"id":${key.id},"revoked":true}`) : respond(200, '');
  }

  function itemOf(key: TrueKey, isCopy: boolean): object[] {
    const created_at = new Date(clock.epochMs() - clock.now() + key.createdAt).toISOString();
    const item = { id: Number(key.id), name: key.name, created_at };
    if (knows(key, isCopy)) return [item];
    return world.listsRevoked && key.revokedAt <= clock.now() ? [{ ...item, revoked: true }] : [];
  }

  function wrongOf(part: Part): Wrong | '401' | undefined {
    const now = clock.now();
    const nth = sent.filter((one) => one.part === part).length + 1;
    const outage = outages.find((one) => {
      const from = began[one.part] + one.from * 1_000;
      return from <= now && now < from + one.seconds * 1_000;
    });
    return outage?.answer ?? faults.find((one) => one.part === part && one.nth === nth)?.what;
  }

  const cut = new TransportError('Connection reset (ECONNRESET)');

  /** Undefined: silence. */
  function answer(request: Sent, isCopy: boolean): HttpResponse | Error | undefined {
    const { wrong } = request;
    const response = () => carryOut(request, isCopy);
    switch (wrong) {
      case undefined:
        return response();
      case 'lost before':
        return cut;
      case 'lost after':
        response();
        return cut;
      case 'silent after':
        response();
        return undefined;
      case 'silent':
      case 'late 3':
      case 'late 12':
      case 'late 45':
        return undefined;
      case 'accepted, late':
        clock.schedule(clock.now() + 4_000, response);
        return respond(202, '{}');
      case 'accepted, never':
        return respond(202, '{}');
      case 'bad json':
        return { ...response(), body: '{"id":' };
      case '502 after':
        response();
        return refuse(502);
      case 'page 404':
      case 'page 502':
        return respond(Number(wrong.slice(-3)), '<!DOCTYPE html><title>gateway</title>', 'text/html');
      case 'id of another': {
        const { body } = response();
        return respond(200, body.replace(/"id":\d+/, `"id":${keys[1]?.id}`));
      }
      default:
        return refuse(Number(wrong));
    }
  }

  const connect =
    (part: Part, onArrival: () => void): Exchange =>
    (request: Request, onCancel: OnCancel) => {
      const one: Sent = {
        ...request,
        part,
        at: clock.now(),
        wrong: wrongOf(part),
        endedAt: undefined,
        status: undefined,
      };
      sent.push(one);
      const isCopy = copies === 'all' || (copies === 'odd') === (sent.length % 2 === 1);
      return new Promise((resolve, reject) => {
        const later = (call: () => void) => clock.schedule(clock.now() + tripMs, call);
        later(() => {
          const result = answer(one, isCopy);
          onArrival();
          if (result === undefined) return;
          later(() => {
            one.endedAt ??= clock.now();
            if (result instanceof Error) return reject(result);
            one.status = result.status;
            resolve(result);
          });
        });
        onCancel(() => {
          if (one.endedAt !== undefined) return;
          one.endedAt = clock.now();
          const [, seconds] = /^late (\d+)$/.exec(one.wrong ?? '') ?? [];
          if (seconds !== undefined)
            clock.schedule(clock.now() + Number(seconds) * 1_000, () => carryOut(request, isCopy));
          reject(new TransportError('The exchange was given up'));
        });
      });
    };

  add('console', parentKey);
  return { keys, sent, began, add, connect };
}
