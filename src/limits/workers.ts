// The limits of workers on other machines.

import { KB, MB, minute, second } from './units.ts'

export const workerLimits = {
  natsConnectMs: 5 * second,
  natsReconnectMs: 1 * second,
  /** Interval of the pings to the NATS server. If two pings in a row get no answer, the connection is opened again. */
  natsPingMs: 10 * second,
  /**
   * Maximum number of claims of a job. Each time that a worker takes the job is a claim. If the last of these claims
   * ends without a result, the job fails.
   */
  workerAttemptsMax: 4,
  /**
   * Interval of a worker's reports on a job. In the response to a report, the server can tell the worker to stop the
   * job.
   */
  workerBeatMs: 1 * second,
  /**
   * Maximum interval between two hello messages of a worker. In a hello message, a worker tells the server what it can
   * do and which jobs it has.
   */
  workerHelloMs: 5 * second,
  /** Timeout of a worker's request to the server. */
  workerRequestMs: 10 * second,
  /**
   * First and maximum pause before a worker repeats a request that failed. The pauses grow from the first value to the
   * second.
   */
  workerRetryMs: second / 2,
  workerRetryMsMax: 10 * second,
  /** Interval at which a worker checks whether its engine is ready and whether the server has answered. */
  workerReadyMs: second / 10,
  /** Time for which NATS keeps a worker's request for the next job open while there is no job. */
  workerPullMs: 2 * second,
  /**
   * Time for which a signed address for media or for a result is valid. After this time, a worker can ask for another
   * address.
   */
  workerAddressMs: 15 * minute,
  /**
   * Maximum size of a result that a worker sends over HTTP. A worker uses HTTP only for a result that is too large for
   * a message over NATS (1 MB by default).
   */
  workerResultBytesMax: 256 * MB,
  /** Maximum number of dead letters (jobs that no worker could complete) in the output of `steno workers list`. */
  deadLettersListed: 20,
  /** If the stored list of workers is older than this time, `steno workers list` assumes that no server is running. */
  workerListOldMs: 1 * minute,
  /** Maximum size of all utterances in one report of a worker. */
  workerReportBytesMax: 256 * KB,
} as const
