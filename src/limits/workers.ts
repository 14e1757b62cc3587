// The limits of workers on other machines.

import { hour, KB, MB, minute, second } from './units.ts'

export const workerLimits = {
  natsConnectMs: 5 * second,
  natsReconnectMs: 1 * second,
  /**
   * Before a server serves, and then at intervals, it asks whether another server uses the name of its cluster. It
   * waits this time for an answer, and continues if none arrives. If no other server is connected to NATS, NATS reports
   * this at once. NATS may still count a server without power or network as connected, so the wait needs a timeout.
   */
  natsPresenceMs: 1 * second,
  /** Interval of the pings to the NATS server. If two pings in a row get no answer, the connection is opened again. */
  natsPingMs: 10 * second,
  /** Maximum number of times that a job is given to a worker. The job fails if the last attempt has no result. */
  workerAttemptsMax: 4,
  /** Interval of a worker's reports on a job. The response to a report can stop the job. */
  workerBeatMs: 1 * second,
  /**
   * JetStream (the message store of NATS) delivers the message of a job again if it gets no sign from the job's worker
   * for this time. The setting STENO_WORKER_LEASE is the silence of a worker after which another worker may claim the
   * job. If this setting is shorter than `workerKeepMs`, JetStream uses the setting instead. A worker sends a sign at
   * least once in `workerBeatMs`.
   */
  workerKeepMs: 5 * second,
  /**
   * Maximum interval between two messages `hello` of a worker. This message says what the worker can do and which jobs
   * it has.
   */
  workerHelloMs: 5 * second,
  /** Maximum size of a message `hello`. A message with 64 jobs and 120 languages has less than 8 KB. */
  workerHelloBytesMax: 64 * KB,
  /** Maximum number of workers with the same name that are present at the same time. */
  workersOfNameMax: 100,
  /**
   * A job waits for an absent worker if only this worker can do it. The job fails if the worker's last message that it
   * was ready is older than this time.
   */
  workerRememberedMs: 24 * hour,
  /**
   * Maximum number of messages in the NATS stream that has one message for each job. An attacker with the credentials
   * of a worker can add messages of about 90 bytes. This limit keeps them from filling the disk of NATS.
   */
  workerStreamMessagesMax: 100_000,
  /** Timeout of a worker's request to the server. */
  workerRequestMs: 10 * second,
  /** First pause before a worker repeats a request that failed. The pauses grow up to `workerRetryMsMax`. */
  workerRetryMs: second / 2,
  workerRetryMsMax: 10 * second,
  /**
   * The timeout of a worker's claim or result over NATS, divided by the pause that follows. If no answer arrives before
   * the timeout, the worker pauses and then sends the message again. The first pause is `workerRetryMs`, and the pauses
   * double. So the first timeout is 4 × `workerRetryMs` = 2 s, and later timeouts grow up to `workerRequestMs`. A
   * message may be lost if the server's connection to NATS breaks. The first timeout is short, so that such a message
   * is soon sent again.
   */
  workerTimeoutsPerPause: 4,
  /**
   * The rate of a slow link, in bytes per millisecond. The time that a result needs on such a link is added to its
   * timeout.
   */
  workerSlowBytesPerMs: 25,
  /**
   * Time in which a worker takes no jobs after an error of its machine, such as a full disk. The time doubles with each
   * such error, from `min` up to `max`. Errors within this time do not double it. After a completed job, it is `min`
   * again.
   */
  workerRestMs: { min: 10 * second, max: 5 * minute },
  /**
   * Interval at which a worker that cannot take jobs checks whether it can. Also the first pause before a worker
   * repeats a `hello` that the server has not answered.
   */
  workerReadyMs: second / 10,
  /** Time for which NATS keeps a worker's request for the next job open while there is no job. */
  workerPullMs: 2 * second,
  /**
   * Time for which a signed address, or a token for the download of models, is valid. A worker can ask for another one.
   */
  workerAddressMs: 15 * minute,
  /** If a transfer of media receives no byte for this time, a new request continues it after the last received byte. */
  workerStallMs: 1 * minute,
  /**
   * Maximum size of a result that a worker sends over HTTP. A job with a larger result fails. Results that fit into a
   * message of NATS (1 MB by default) are not sent over HTTP.
   */
  workerResultBytesMax: 256 * MB,
  /** Maximum number of dead letters (jobs that no worker could complete) in the output of `steno workers list`. */
  deadLettersListed: 20,
  /**
   * `steno workers list` assumes that no server is running if the stored list is older than this time. Servers write
   * the list every minute.
   */
  workerListOldMs: 2 * minute,
  /**
   * Maximum size of all utterances in one report of a worker. Reports are smaller if NATS allows only smaller messages.
   */
  workerReportBytesMax: 256 * KB,
} as const
