import type { Exchange } from '../../src/http/exchange.js';
import { type ControlPlaneOptions, type CreatedControlPlane, createControlPlane } from '../control-plane/index.js';
import { VirtualClock } from './clock.js';
import { type NetworkOptions, virtualNetwork } from './network.js';

export interface WorldOptions extends NetworkOptions, Omit<ControlPlaneOptions, 'clock'> {
  readonly clock?: VirtualClock;
}

/** A control plane on a virtual clock. */
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

  /** A new connection. */
  connect(): Exchange {
    return virtualNetwork(this.exchanges, this.clock, this.#network);
  }
}
