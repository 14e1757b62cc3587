// The numbers on which the simulation of a year depends. Those that are called `measured` come from docs/bench.md.
// All others are assumptions: replace them with your own.

export const hour = 3600
export const day = 24 * hour
export const week = 7 * day
export const year = 52 * week

export const load = {
  hoursPerMonth: 10_000_000,
  /**
   * The number of servers that share the load. Each has its own accounts, queue and workers. Only one of them is
   * simulated.
   */
  servers: 8,
  /** The median and the mean of the length of a recording, in seconds. Its distribution is log-normal. */
  medianSeconds: 12 * 60,
  meanSeconds: 30 * 60,
  longestSeconds: 10 * hour,
  /** The load in each hour of a day and on each day of a week, relative to a mean of 1. A week starts on Monday. */
  byHour: [
    0.35, 0.3, 0.28, 0.28, 0.32, 0.42, 0.6, 0.9, 1.3, 1.6, 1.75, 1.75, 1.55, 1.6, 1.75, 1.75, 1.65, 1.45, 1.2,
    1, 0.85, 0.7, 0.55, 0.42,
  ],
  byDay: [1.15, 1.2, 1.2, 1.15, 1.05, 0.65, 0.6],
  /**
   * Bursts of load, for example from a customer who sends an archive. During a burst, the load is multiplied by a
   * factor.
   */
  burstsPerMonth: 3,
  burstHoursMean: 2,
  burstFactorMax: 4,
}

export const gpu = {
  /** A published figure: 404 for Whisper large-v3-turbo on an H100 with batches of 32. */
  secondsOfAudioPerSecond: 400,
  /**
   * The time that a job takes in addition to its recognition: for claiming it, and for fetching and decoding its
   * first minutes.
   */
  jobSeconds: 1,
  /** The time from ordering a GPU until its worker has loaded the model. */
  bootSeconds: 5 * 60,
  reserved: 2,
  dollarsPerHour: { reserved: 2, spot: 1.5, onDemand: 3.5 },
  /** The mean time after which a spot GPU is withdrawn. */
  spotLifeSeconds: 8 * hour,
  /** Outages of spot GPUs: this share of them is withdrawn at once, and for a while none can be ordered. */
  outagesPerMonth: 2,
  outageShare: 0.7,
  outageHoursMean: 2,
  /**
   * The time after which another worker gets the job of a GPU that was withdrawn. It is the default of
   * STENO_WORKER_LEASE.
   */
  leaseSeconds: 30,
  attemptsMax: 4,
}

/** The rule by which GPUs are ordered and stopped, once a minute. */
export const scaler = {
  everySeconds: 60,
  /** The share of the time for which a GPU should be busy. */
  busyShare: 0.75,
  /** The time in which a queue should become empty. */
  drainSeconds: 5 * 60,
  /** The weight of the last minute in the moving average of the load. */
  newestWeight: 0.2,
  /** The time for which there must be too many GPUs before one of them is stopped. */
  surplusSeconds: 15 * 60,
}

/** What a server can do, and what it needs for a job or for an hour of audio. */
export const server = {
  cores: 16,
  wireMegabytesPerSecond: 1250,
  requestsPerJob: 3,
  megabytesPerHour: 60,
  measured: {
    postsPerSecond: 1000,
    /** The CPU time for passing a job to a worker. All jobs pass through one thread. */
    handOverCpuSeconds: 0.005,
    inspectionCpuSecondsPerHour: 2.6,
    /** The speed of four concurrent uploads, on two cores. */
    uploadMegabytesPerSecond: 522,
    databaseMegabytesPerHour: 1,
    copySecondsPerGigabyte: 2.7,
  },
}
