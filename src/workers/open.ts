// The entry to the code for workers on other machines. The server imports this file only if STENO_NATS is set.

import type { Engine } from '../engine/engine.ts'
import { Engines } from './engines.ts'
import { Fleet, type FleetParts } from './fleet.ts'

export type { Fleet } from './fleet.ts'

/**
 * Connects the server to NATS. Returns the fleet (the workers on other machines), and an engine that shares the jobs
 * between the fleet and `own`. `own` is the server's own engine, or null.
 */
export function openFleet(parts: FleetParts, own: Engine | null): { fleet: Fleet; engine: Engine } {
  const fleet = new Fleet(parts)
  return { fleet, engine: new Engines(fleet, own) }
}
