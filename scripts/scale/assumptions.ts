// The numbers for the simulation of a year. The numbers in `server.measured` were measured (see docs/scale.md). All
// other numbers are assumptions: replace them with your own.

export const hour = 3600
export const day = 24 * hour
export const week = 7 * day
export const year = 52 * week

export const load = {
  hoursPerMonth: 10_000_000,
  /**
   * The number of servers that share the load. Each has its own accounts, queue and workers. Only one server is
   * simulated.
   */
  servers: 8,
  /** The median and the mean length of a recording, in seconds. The lengths have a log-normal distribution. */
  medianSeconds: 12 * 60,
  meanSeconds: 30 * 60,
  longestSeconds: 10 * hour,
  /**
   * The load in each hour of a day, and on each day of a week from Monday. Only the ratios count: the simulation
   * divides each number by the mean of its list.
   */
  byHour: [
    0.35, 0.3, 0.28, 0.28, 0.32, 0.42, 0.6, 0.9, 1.3, 1.6, 1.75, 1.75, 1.55, 1.6, 1.75, 1.75, 1.65, 1.45, 1.2,
    1, 0.85, 0.7, 0.55, 0.42,
  ],
  byDay: [1.15, 1.2, 1.2, 1.15, 1.05, 0.65, 0.6],
  /**
   * Bursts of load, for example a customer who sends an archive. A burst multiplies the load by a random factor from 1
   * to `burstFactorMax`.
   */
  burstsPerMonth: 3,
  burstHoursMean: 2,
  burstFactorMax: 4,
}

export const gpu = {
  /**
   * The seconds of audio that a GPU transcribes in a second. A published measurement of Whisper large-v3-turbo on an
   * H100 GPU with batches of 32 is 404.
   */
  secondsOfAudioPerSecond: 400,
  /**
   * The time, in seconds, that a GPU needs for each job before the recognition: to claim the job, and to fetch and
   * decode the first minutes of the recording.
   */
  jobSeconds: 1,
  /** The time, in seconds, from the order of a GPU until its worker has loaded the model. */
  bootSeconds: 5 * 60,
  reserved: 2,
  dollarsPerHour: { reserved: 2, spot: 1.5, onDemand: 3.5 },
  /** The mean time, in seconds, after which the provider withdraws a spot GPU. */
  spotLifeSeconds: 8 * hour,
  /**
   * Outages of spot GPUs. At the start of an outage, the provider withdraws the share `outageShare` of all spot GPUs.
   * No spot GPU can be ordered during the outage.
   */
  outagesPerMonth: 2,
  outageShare: 0.7,
  outageHoursMean: 2,
  /**
   * The time, in seconds, that a job waits for another worker after its GPU was withdrawn. It is the default of the
   * setting STENO_WORKER_LEASE.
   */
  leaseSeconds: 30,
  attemptsMax: 4,
}

/** The parameters of the autoscaler, which rents more GPUs and stops idle GPUs. */
export const scaler = {
  everySeconds: 60,
  /** The share of the time, from 0 to 1, in which a GPU should be busy. */
  busyShare: 0.75,
  /**
   * The time, in seconds, in which the GPUs should empty the queue of waiting jobs. For this, more GPUs are rented than
   * the average load needs.
   */
  drainSeconds: 5 * 60,
  /** The weight, from 0 to 1, of the last minute in the moving average of the load. */
  newestWeight: 0.2,
  /** The time, in seconds, for which there must be too many GPUs before a GPU is stopped. */
  surplusSeconds: 15 * 60,
}

/** The capacity of a server, and the resources that it needs for each kind of work. */
export const server = {
  cores: 16,
  wireMegabytesPerSecond: 1250,
  diskMegabytesPerSecond: 1000,
  requestsPerJob: 3,
  megabytesPerHour: 60,
  measured: {
    postsPerSecond: 6000,
    /** The CPU time for passing one job to a worker. One thread of the server does this for all jobs. */
    handOverCpuSeconds: 0.00193,
    inspectionCpuSecondsPerHour: 0.26,
    databaseMegabytesPerHour: 1,
    copySecondsPerGigabyte: 2.7,
  },
}
