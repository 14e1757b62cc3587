// The two steps of a job: preparing its media, and recognising the speech. A step returns a function that stores its
// result and changes the state of the job.

import type { Secrets } from '../base/seal.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import type { Engine } from '../engine/engine.ts'
import type { Ingest } from './ingest.ts'
import type { Job } from './job.ts'
import type { LiveJobs } from './live.ts'

/** The input of a step of a job. */
export type Work = {
  job: Job
  signal: AbortSignal
  db: Db
  config: Config
  secrets: Secrets
  engine: Engine
  live: LiveJobs
  ingest: Ingest
}

/** Stores the result of a step. Returns the job if the result has ended the job, otherwise null. */
export type End = () => Job | null
