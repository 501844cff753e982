import type { Key } from '../api/keys.js';
import { timeOf } from '../api/records.js';
import { ApiError, AskedToWaitTooLong } from '../http/errors.js';
import { type Manner, withRetries } from '../http/retry.js';
import { formatDuration } from '../time/duration.js';
import { type OnStop, TimeUp } from '../time/limit.js';
import type { Collaborators } from './collaborators.js';
import { fewAtATime } from './few-at-a-time.js';
import { type Fate, revokeEach } from './keys/fates.js';
import { type Run, runOf } from './keys/key-name.js';
import { Revoker } from './keys/revocation.js';
import { patiently } from './patience.js';

export interface SweepKeysSettings {
  /** That of the sweep itself. */
  readonly run: Run;
  /** Milliseconds: how old a key must be where the state of its run cannot be seen. */
  readonly olderThan: number;
  readonly dryRun: boolean;
  /** Milliseconds for a question to GitHub. */
  readonly requestTimeout: number;
}

/** A run of a workflow as GitHub shows it. */
export interface RunSeen {
  /** The latest; none where GitHub does not tell. */
  readonly attempt: number | undefined;
  readonly isCompleted: boolean;
}

/** Why a run could not be seen, as an `ApiError` tells it. */
export interface Unseen {
  readonly message: string;
  readonly status?: number;
  readonly transient: boolean;
  readonly retryAfter?: number;
}

/** The runs of the workflows of this repository. */
export interface WorkflowRuns {
  look(id: string, onStop: OnStop): Promise<{ readonly run: RunSeen | 'gone' } | { readonly unseen: Unseen }>;
}

/** A key of this repository, what is to become of it, and why. */
export interface Judged {
  readonly key: Key;
  readonly run: Run;
  readonly isOver: boolean;
  readonly why: string;
}

export interface Swept {
  readonly judged: readonly Judged[];
  /** Of those whose run is over; none in a dry run. */
  readonly fates: readonly Fate[];
  /** Keys that this action made for other repositories, and those that it did not make. */
  readonly others: { readonly ofOtherRepositories: number; readonly notOurs: number };
  /** Why runs could not be seen. */
  readonly troubles: readonly ApiError[];
}

export async function sweepKeys(
  settings: SweepKeysSettings,
  collaborators: Collaborators,
  runs: WorkflowRuns,
): Promise<Swept> {
  const { api, limit, log } = collaborators;
  const manner = patiently(collaborators);
  const keys = (await api.keys(manner)).map((key) => ({ key, run: runOf(key.name ?? '') }));
  const made = keys.flatMap(({ key, run }) => (run === undefined ? [] : [{ key, run }]));
  const ours = made.filter(({ run }) => run.fingerprint === settings.run.fingerprint);

  const questions = new Questions(settings, runs, collaborators);
  const standings = await questions.ask(new Set(ours.map(({ run }) => run.id)));
  const date = limit.clock.date();
  const judged = ours.map(({ key, run }) => ({ key, run, ...judge(key, run, standings.get(run.id), settings, date) }));

  const over = judged.filter(({ isOver }) => isOver).map(({ key }) => key.id);
  return {
    judged,
    fates: settings.dryRun ? [] : await revokeEach(over, new Revoker(api, manner), log),
    others: { ofOtherRepositories: made.length - ours.length, notOurs: keys.length - made.length },
    troubles: questions.troubles,
  };
}

const mostTroubles = 3;

type Standing = RunSeen | 'gone' | undefined;

/** One question a run, however many keys it has. */
class Questions {
  readonly troubles: ApiError[] = [];
  readonly #own: Run;
  readonly #requestTimeout: number;
  readonly #runs: WorkflowRuns;
  readonly #manner: Manner;

  constructor({ run, requestTimeout }: SweepKeysSettings, runs: WorkflowRuns, collaborators: Collaborators) {
    this.#own = run;
    this.#requestTimeout = requestTimeout;
    this.#runs = runs;
    // The other half of the time is for the keys.
    const { limit } = collaborators;
    this.#manner = patiently({ ...collaborators, limit: limit.within(limit.left / 2) });
  }

  /** Nothing stands for a run that cannot be seen. */
  async ask(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Standing>> {
    const standings = new Map<string, Standing>();
    const others = [...ids].filter((id) => id !== this.#own.id);
    standings.set(this.#own.id, { attempt: this.#own.attempt, isCompleted: false });
    if (others.length === 0 || !(await this.#seesItself())) return standings;
    await fewAtATime(others, async (id) => {
      // Who is refused once is refused again, and who is down for three is down for all.
      const isFinal = (trouble: ApiError) => !trouble.transient || trouble instanceof AskedToWaitTooLong;
      if (this.troubles.some(isFinal) || this.troubles.length >= mostTroubles) return;
      try {
        standings.set(id, await this.#look(id));
      } catch (error) {
        this.#note(error);
      }
    });
    return standings;
  }

  /** That another run is not found proves something only where this very run is. */
  async #seesItself(): Promise<boolean> {
    try {
      if ((await this.#look(this.#own.id)) !== 'gone') return true;
      this.troubles.push(
        new ApiError('GitHub does not show this very run to github-token', { transient: false, status: 404 }),
      );
    } catch (error) {
      this.#note(error);
    }
    return false;
  }

  #look(id: string): Promise<RunSeen | 'gone'> {
    return withRetries(async () => {
      const own = this.#manner.limit.within(this.#requestTimeout);
      const answer = await own
        .run((onStop) => this.#runs.look(id, onStop))
        .catch((error: unknown) => {
          if (!(error instanceof TimeUp) || this.#manner.limit.struck) throw error;
          return { unseen: { message: 'GitHub did not answer in time', transient: true } };
        });
      if ('run' in answer) return answer.run;
      throw new ApiError(answer.unseen.message, answer.unseen);
    }, this.#manner);
  }

  #note(error: unknown): void {
    if (error instanceof TimeUp) this.troubles.push(tooSlow(error));
    else if (error instanceof ApiError) this.troubles.push(error);
    else throw error;
  }
}

/** Half of the time is gone: who is asked next is not waited for either. */
function tooSlow({ cause }: TimeUp): ApiError {
  const met = cause instanceof ApiError ? `; met last: ${cause.message}` : '';
  return new ApiError(`GitHub did not answer in half of the time${met}`, { transient: false });
}

function judge(
  key: Key,
  run: Run,
  standing: Standing,
  { run: own, olderThan }: SweepKeysSettings,
  date: number,
): { readonly isOver: boolean; readonly why: string } {
  if (standing === 'gone') return { isOver: true, why: 'its run is gone' };
  const isStale = standing?.attempt !== undefined && standing.attempt < run.attempt;
  if (standing === undefined || isStale) {
    const created = timeOf(key, 'created_at');
    const isOver = created !== undefined && date - created > olderThan;
    const what = isStale ? 'GitHub shows an earlier attempt of its run' : 'its run cannot be seen';
    return { isOver, why: `${what}; it is ${isOver ? '' : 'not '}older than ${formatDuration(olderThan)}` };
  }
  const { attempt, isCompleted } = standing;
  if (attempt !== undefined && attempt > run.attempt) return { isOver: true, why: `its run is at attempt ${attempt}` };
  if (isCompleted) return { isOver: true, why: 'its run is completed' };
  return { isOver: false, why: run.id === own.id ? 'its run is this one' : 'its run goes on' };
}
