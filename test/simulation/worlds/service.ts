import { httpDate } from '../../../control-plane/timestamp.js';
import type { Exchange, HttpResponse } from '../../../src/http/exchange.js';
import type { VirtualClock } from '../../virtual/clock.js';
import { type Life, lagOf, livesOf, type World } from './world.js';

export const projectId = 'calm-bay-1';

const idOf = (index: number) => `00000000-0000-4000-8000-00000000000${index}`;

/** A response that reached the client. Times are milliseconds of the step. */
export interface Answer {
  readonly sentAt: number;
  readonly at: number;
  /** Number of the read that the page belongs to, or undefined for a single request. */
  readonly read: number | undefined;
  /** Undefined: the request failed. */
  readonly shown: readonly { readonly index: number; readonly hasEnded: boolean }[] | undefined;
}

/** The service of a world, without sockets. It is much faster than the control plane, which has all endpoints. */
export function serve(world: World, clock: VirtualClock) {
  const lives = livesOf(world);
  /** Newest first, as the list shows them. Of two that begin together, the later one of the world is newer. */
  const newestFirst = lives.map((life, index) => ({ life, index })).toReversed();
  newestFirst.sort((one, other) => other.life.begins - one.life.begins);
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

  function record({ begins, ends, isGood }: Life, index: number, hasEnded: boolean) {
    const status = hasEnded ? (isGood ? 'finished' : 'failed') : 'running';
    const time = (ms: number) => new Date(clock.epochMs() - clock.now() + ms).toISOString();
    const created_at = time(begins);
    const updated_at = hasEnded ? time(ends) : created_at;
    return { id: idOf(index), project_id: projectId, action: 'create_branch', status, created_at, updated_at };
  }

  function list(cursor: string | null): HttpResponse {
    const at = clock.now();
    if (cursor === null) sent.reads++;
    const read = sent.reads;
    if (hasFailed(cursor !== null)) {
      answers.push({ sentAt: at, at, read, shown: undefined });
      return respond(503, '');
    }
    const isListed = ({ life }: (typeof newestFirst)[number]) => life.begins <= at - lagOf(life, read - 1);
    const from = cursor === null ? 0 : newestFirst.findIndex(({ index }) => String(index) === cursor) + 1;
    const rest = newestFirst.slice(from).filter(isListed);
    const page = rest.slice(0, world.pageSize).map(({ life, index }) => {
      return { life, index, hasEnded: life.ends <= at - lagOf(life, read - 1) };
    });
    answers.push({ sentAt: at, at, read, shown: page });
    const operations = page.map(({ life, index, hasEnded }) => record(life, index, hasEnded));
    const pagination = rest.length > page.length ? { cursor: String(page.at(-1)?.index) } : {};
    return respond(200, JSON.stringify({ operations, pagination }));
  }

  function single(index: number, sentAt: number): HttpResponse {
    const at = clock.now();
    const life = lives[index];
    if (life === undefined) return respond(404, '');
    const hasEnded = life.ends <= at;
    answers.push({ sentAt, at, read: undefined, shown: [{ index, hasEnded }] });
    return respond(200, JSON.stringify({ operation: record(life, index, hasEnded) }));
  }

  const exchange: Exchange = async ({ url }, onCancel) => {
    const [, id] = /\/operations\/(.+)$/.exec(url.pathname) ?? [];
    if (id === undefined) return list(url.searchParams.get('cursor'));
    const sentAt = clock.now();
    if (hasFailed(false)) return respond(503, '');
    return new Promise((resolve, reject) => {
      const stop = clock.schedule(sentAt + world.singleSeconds * 1_000, () =>
        resolve(single(Number(id.at(-1)), sentAt)),
      );
      onCancel(() => {
        stop();
        reject(new Error('The exchange was given up'));
      });
    });
  };
  return { exchange, lives, answers, sent };
}
