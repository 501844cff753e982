import { ControlApi } from '../../src/api/control-api.js';
import { type Log, silent } from '../../src/api/log.js';
import type { Exchange } from '../../src/http/exchange.js';
import { parseFilter } from '../../src/modes/list/filter.js';
import type { WaitResult } from '../../src/modes/wait-operation/wait-result.js';
import { type WaitSettings, waitOperation } from '../../src/modes/wait-operation/waiter.js';
import type { Clock } from '../../src/time/clock.js';
import { Cancellation, Deadline } from '../../src/time/deadline.js';
import { type ControlPlaneOptions, type CreatedControlPlane, createControlPlane } from '../control-plane/index.js';
import { seededRandom } from '../control-plane/random.js';
import { VirtualClock } from './clock.js';
import { type NetworkOptions, virtualNetwork } from './network.js';

export interface WorldOptions extends NetworkOptions, Omit<ControlPlaneOptions, 'clock'> {
  readonly clock?: VirtualClock;
}

export interface WaitOptions extends Partial<WaitSettings> {
  /** Milliseconds, as those below. */
  readonly timeout?: number;
  readonly requestTimeout?: number;
  readonly log?: Log;
  /** Seed of the waiter's own chances. */
  readonly seed?: number;
  readonly cancel?: Cancellation;
  /** How far the clock of the runner is ahead of the service's. */
  readonly clockSkew?: number;
  /** In place of a connection of its own. */
  readonly exchange?: Exchange;
}

/** A service on a virtual clock, and those who wait for it. */
export class World {
  readonly clock: VirtualClock;
  readonly plane: CreatedControlPlane['plane'];
  readonly faults: CreatedControlPlane['faults'];
  readonly exchanges: CreatedControlPlane['exchanges'];
  readonly projectId: string;
  readonly #network: NetworkOptions;

  constructor({ clock = new VirtualClock(), trip, ...options }: WorldOptions = {}) {
    this.clock = clock;
    this.#network = trip === undefined ? {} : { trip };
    const { plane, faults, exchanges } = createControlPlane({ ...options, clock: clock.service });
    this.plane = plane;
    this.faults = faults;
    this.exchanges = exchanges;
    this.projectId = plane.projectIds[0] ?? '';
  }

  /** When each request arrived, in milliseconds of the clock. */
  get times(): number[] {
    const epoch = this.clock.epochMs() - this.clock.now();
    return this.exchanges.log.exchanges.map(({ at }) => at - epoch);
  }

  /** A connection of its own for each who waits. */
  connect(): Exchange {
    return virtualNetwork(this.exchanges, this.clock, this.#network);
  }

  /** One wait; it gets on only while the clock runs. */
  begin(ids: readonly string[] | 'all', options: WaitOptions = {}): Promise<WaitResult> {
    const { timeout = 600_000, requestTimeout = 30_000, log = silent, seed = 1, cancel } = options;
    const { clockSkew = 0, exchange = this.connect(), ...settings } = options;
    const { plane, projectId } = this;
    const { clock: serviceClock } = this;
    const clock: Clock = {
      now: () => serviceClock.now(),
      epochMs: () => serviceClock.epochMs() + clockSkew,
      schedule: (time, call) => serviceClock.schedule(time, call),
    };
    const access = { baseUrl: new URL('https://control.test/v2'), apiKey: plane.apiKey, requestTimeout };
    return waitOperation(
      {
        projectIds: [projectId],
        target: ids === 'all' ? { all: parseFilter('', []) } : { ids },
        failOnEmpty: false,
        pollInterval: 'auto',
        failFast: true,
        ...settings,
      },
      {
        api: new ControlApi(exchange, access, log),
        deadline: new Deadline(
          clock,
          timeout === 0 ? Number.POSITIVE_INFINITY : clock.now() + timeout,
          cancel ?? new Cancellation(),
        ),
        log,
        random: seededRandom(seed),
      },
    );
  }

  /** A wait from its begin to its end. */
  wait(ids: readonly string[] | 'all', options: WaitOptions = {}): Promise<WaitResult> {
    return this.clock.run(this.begin(ids, options));
  }
}
