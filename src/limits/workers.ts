// The limits of workers on other machines.

import { hour, KB, MB, minute, second } from './units.ts'

export const workerLimits = {
  natsConnectMs: 5 * second,
  natsReconnectMs: 1 * second,
  /** Interval of the pings to the NATS server. If two pings in a row get no answer, the connection is opened again. */
  natsPingMs: 10 * second,
  /**
   * Maximum number of times that a job is given to a worker. If the last of these attempts ends without a result, the
   * job fails.
   */
  workerAttemptsMax: 4,
  /** Interval of a worker's reports on a job. The response to a report can stop the job. */
  workerBeatMs: 1 * second,
  /**
   * Time after which JetStream delivers the message of a job again if the worker that got it says nothing about it, for
   * example because the message was lost with the connection. A worker that has the message says so each
   * `workerBeatMs`.
   */
  workerKeepMs: 5 * second,
  /**
   * Maximum interval between two messages `hello` of a worker. This message says what the worker can do and which jobs
   * it has.
   */
  workerHelloMs: 5 * second,
  /**
   * Maximum size of a message `hello`, which the server stores. A real message with 64 jobs and 120 languages has less
   * than 8 KB.
   */
  workerHelloBytesMax: 64 * KB,
  /**
   * Maximum number of workers with the same name that are present at the same time. The server refuses further ones.
   */
  workersOfNameMax: 100,
  /**
   * If the only worker that can do a job is absent, the job waits for this worker. The job fails when this time has
   * passed since the last message in which the worker was ready.
   */
  workerRememberedMs: 24 * hour,
  /**
   * Maximum number of messages in the stream. The stream has one message for each job that is given to workers. An
   * attacker with the credentials of a worker can add other messages. Each of them has about 90 bytes, so with this
   * limit they cannot fill the disk of NATS.
   */
  workerStreamMessagesMax: 100_000,
  /** Timeout of a worker's request to the server. */
  workerRequestMs: 10 * second,
  /** First pause before a worker repeats a request that failed. The pauses grow up to `workerRetryMsMax`. */
  workerRetryMs: second / 2,
  workerRetryMsMax: 10 * second,
  /**
   * Timeout of a claim, as a multiple of the pause after the claim. The first timeout is only 2 s, because a claim is
   * lost if the server's own connection to NATS breaks. The timeout grows up to `workerRequestMs`, because a server may
   * need longer to answer.
   */
  workerTimeoutsPerPause: 4,
  /**
   * Time in which a worker takes no jobs after an error of its machine, such as a full disk. The time begins with `min`
   * and doubles with each such error, up to `max`. Errors within this time do not double it. After a completed job, the
   * time begins with `min` again.
   */
  workerRestMs: { min: 10 * second, max: 5 * minute },
  /**
   * Interval at which a worker that cannot take jobs checks whether the server has accepted it and whether its engine
   * is ready. Also the first pause before a worker repeats its first message `hello`, if the server does not answer.
   */
  workerReadyMs: second / 10,
  /** Time for which NATS keeps a worker's request for the next job open while there is no job. */
  workerPullMs: 2 * second,
  /**
   * Time for which a signed address, or a token for the download of models, is valid. A worker can ask for another one
   * afterwards.
   */
  workerAddressMs: 15 * minute,
  /**
   * Maximum size of a result that a worker sends over HTTP. A job with a larger result fails. Results that are too
   * large for a message of NATS (1 MB by default) are sent over HTTP.
   */
  workerResultBytesMax: 256 * MB,
  /** Maximum number of dead letters (jobs that no worker could complete) in the output of `steno workers list`. */
  deadLettersListed: 20,
  /** If the stored list of workers is older than this time, `steno workers list` assumes that no server is running. */
  workerListOldMs: 1 * minute,
  /**
   * Maximum size of all utterances in one report of a worker. The maximum is smaller if NATS allows only small
   * messages.
   */
  workerReportBytesMax: 256 * KB,
} as const
