import { httpDate } from '../../../control-plane/timestamp.js';
import type { Exchange, HttpResponse } from '../../../src/http/exchange.js';
import type { VirtualClock } from '../../virtual/clock.js';
import type { Answer } from '../owed.js';
import { type Life, lagOf, livesOf, type World } from './world.js';

export const projectId = 'calm-bay-1';
/** A request for one operation takes so long, and shows the state at its end. */
export const singleMs = 1_500;

/** The service of a world, without sockets. It is much faster than the control plane, which has all endpoints. */
export function serve(world: World, clock: VirtualClock) {
  const lives = livesOf(world);
  /** As the list shows them. Of two that begin together, the later one of the world is newer. */
  const newestFirst = lives.toReversed().sort((one, other) => other.begins - one.begins);
  const answers: Answer[] = [];
  const sent = { requests: 0, 'second pages': 0, reads: 0 };
  const respond = (status: number, body: string): HttpResponse => ({
    status,
    headers: {
      date: httpDate(clock.epochMs() + 1_000 * (world.dateAheadSeconds ?? 0)),
      'content-type': 'application/json',
    },
    body,
  });

  function hasFailed(isSecondPage: boolean): boolean {
    sent.requests++;
    if (isSecondPage) sent['second pages']++;
    const { what, nth } = world.fails ?? {};
    return what === 'request' ? nth === sent.requests : isSecondPage && nth === sent['second pages'];
  }

  /** As it was at that time. Keeps in mind that it was shown. */
  function show(shown: readonly Life[], at: (life: Life) => number, answer: Pick<Answer, 'sentAt' | 'read'>) {
    answers.push({ ...answer, shown: shown.map((life) => ({ id: life.id, hasEnded: life.ends <= at(life) })) });
    return shown.map((life) => recordOf(life, life.ends <= at(life)));
  }

  function recordOf({ id, begins, ends, isGood }: Life, hasEnded: boolean) {
    const status = hasEnded ? (isGood ? 'finished' : 'failed') : 'running';
    const time = (ms: number) => new Date(clock.epochMs() - clock.now() + ms).toISOString();
    const created_at = time(begins);
    const updated_at = hasEnded ? time(ends) : created_at;
    return { id, project_id: projectId, action: 'create_branch', status, created_at, updated_at };
  }

  function list(cursor: string | null): HttpResponse {
    const sentAt = clock.now();
    if (cursor === null) sent.reads++;
    const read = sent.reads;
    if (hasFailed(cursor !== null)) {
      answers.push({ sentAt, read, shown: undefined });
      return respond(503, '');
    }
    const seenAt = (life: Life) => sentAt - lagOf(life, read - 1);
    const from = cursor === null ? 0 : newestFirst.findIndex(({ id }) => id === cursor) + 1;
    const rest = newestFirst.slice(from).filter((life) => life.begins <= seenAt(life));
    const page = rest.slice(0, world.pageSize);
    const operations = show(page, seenAt, { sentAt, read });
    const pagination = rest.length > page.length ? { cursor: page.at(-1)?.id } : {};
    return respond(200, JSON.stringify({ operations, pagination }));
  }

  const exchange: Exchange = async ({ url }, onCancel) => {
    const [, id] = /\/operations\/(.+)$/.exec(url.pathname) ?? [];
    if (id === undefined) return list(url.searchParams.get('cursor'));
    const sentAt = clock.now();
    if (hasFailed(false)) return respond(503, '');
    return new Promise((resolve, reject) => {
      const stop = clock.schedule(sentAt + singleMs, () => {
        const asked = lives.filter((life) => life.id === id);
        const [operation] = show(asked, () => clock.now(), { sentAt, read: undefined });
        resolve(operation === undefined ? respond(404, '') : respond(200, JSON.stringify({ operation })));
      });
      onCancel(() => {
        stop();
        reject(new Error('The exchange was given up'));
      });
    });
  };
  return { exchange, lives, answers, sent };
}
