// Opens the engines of the server: the engine processes on this machine, and the workers on other machines.

import type { Service } from '../api/service.ts'
import type { Config } from '../config.ts'
import { unlessRefused } from '../db/refusal.ts'
import type { Engine } from '../engine/engine.ts'
import { openEngine } from '../engine/supervisor.ts'
import { findJob } from '../jobs/job.ts'
import { claimJob, takeJobBack } from '../jobs/moves.ts'
import { isTerminal } from '../jobs/states.ts'
import { readRemembered } from '../workers/listing.ts'
import type { Fleet } from '../workers/open.ts'

/**
 * The module that opens the fleet: an engine that passes jobs to workers on other machines. Null if STENO_NATS is not
 * set.
 */
export type Workers = typeof import('../workers/open.ts') | null

type Needed = Pick<Service, 'db' | 'secrets' | 'metrics'>

/** Opens the engines. In tests, the engine `given` replaces the engine processes on this machine. */
export function openEngines(
  config: Config,
  workers: Workers,
  given: Engine | undefined,
  needed: Needed,
): { engine: Engine; fleet: Fleet | null } {
  const crashes = needed.metrics.counter('steno_engine_crashes_total', {})
  const openOwn = () => given ?? openEngine(config, { onCrash: () => crashes.add(1) })
  if (!workers) return { engine: openOwn(), fleet: null }
  return workers.openFleet(fleetParts(config, needed), config.workers === 0 ? null : openOwn())
}

function fleetParts(
  config: Config,
  { db, secrets, metrics }: Needed,
): ConstructorParameters<typeof Fleet>[0] {
  return {
    address: config.nats ?? '',
    credentials: config.natsCreds,
    cluster: config.cluster,
    leaseMs: config.workerLeaseMs,
    secrets,
    claims: {
      claim: (jobId, worker) => claimJob(db, jobId, worker),
      takeBack: jobId => unlessRefused(() => takeJobBack(db, jobId))?.fence ?? null,
      find(jobId) {
        const job = findJob(db, jobId)
        return job && { fence: job.fence, isOver: isTerminal(job.state) }
      },
    },
    wall: () => db.now(),
    uptime: () => db.uptime(),
    remembered: readRemembered(db),
    onDead: () => metrics.add('steno_dead_letters_total', {}),
  }
}
