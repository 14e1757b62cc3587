// The file through which the server loads the code that connects it to workers on other machines. The server imports
// this file only if STENO_NATS is set.

import type { Engine } from '../engine/engine.ts'
import { Engines } from './engines.ts'
import { Fleet, type FleetParts } from './fleet.ts'

export type { Fleet } from './fleet.ts'

/**
 * Connects the server to NATS, through which the server reaches workers on other machines (the fleet). Returns the
 * fleet, and an engine that passes each job either to the fleet or to `own`. `own` is the server's own engine, or null
 * if the server has none.
 */
export function openFleet(parts: FleetParts, own: Engine | null): { fleet: Fleet; engine: Engine } {
  const fleet = new Fleet(parts)
  return { fleet, engine: new Engines(fleet, own) }
}
