// The numbers on which the simulation of a year depends. `measured` numbers come from docs/bench.md. All others are
// assumptions: replace them with your own.

export const hour = 3600
export const day = 24 * hour
export const week = 7 * day
export const year = 52 * week

export const load = {
  hoursPerMonth: 10_000_000,
  /** Servers that share the load. Each has its own accounts, its own queue and its own workers. One is simulated. */
  servers: 8,
  /** The length of a recording has a log-normal distribution with this median and this mean, in seconds. */
  medianSeconds: 12 * 60,
  meanSeconds: 30 * 60,
  longestSeconds: 10 * hour,
  /** The load of each hour of a day and of each day of a week, beside an average of 1. A week starts on Monday. */
  byHour: [
    0.35, 0.3, 0.28, 0.28, 0.32, 0.42, 0.6, 0.9, 1.3, 1.6, 1.75, 1.75, 1.55, 1.6, 1.75, 1.75, 1.65, 1.45, 1.2,
    1, 0.85, 0.7, 0.55, 0.42,
  ],
  byDay: [1.15, 1.2, 1.2, 1.15, 1.05, 0.65, 0.6],
  /** Bursts, such as a customer who sends an archive. During a burst the load is multiplied. */
  burstsPerMonth: 3,
  burstHoursMean: 2,
  burstFactorMax: 4,
}

export const gpu = {
  /** Published: 404 for Whisper large-v3-turbo on an H100 with batches of 32. */
  secondsOfAudioPerSecond: 400,
  /** Time of a job beside recognition: hand-over, fetching and decoding the first minutes. */
  jobSeconds: 1,
  /** Time from the order of a GPU until its worker has loaded the model. */
  bootSeconds: 5 * 60,
  reserved: 2,
  dollarsPerHour: { reserved: 2, spot: 1.5, onDemand: 3.5 },
  /** Mean time until a single spot GPU vanishes. */
  spotLifeSeconds: 8 * hour,
  /** Spot outages: this share of the spot GPUs vanishes at once, and none can be ordered for a while. */
  outagesPerMonth: 2,
  outageShare: 0.7,
  outageHoursMean: 2,
  /** Silence after which the job of a vanished worker is handed out again. The default of STENO_WORKER_LEASE. */
  leaseSeconds: 30,
  attemptsMax: 4,
}

/** The rule that orders and stops GPUs, once a minute. */
export const scaler = {
  everySeconds: 60,
  /** Share of the time that a GPU shall be busy. */
  busyShare: 0.75,
  /** Time in which the queue shall be empty again. */
  drainSeconds: 5 * 60,
  /** Weight of the newest minute in the mean of the load. */
  newestWeight: 0.2,
  /** A surplus of GPUs must last for this time before one of them is stopped. */
  surplusSeconds: 15 * 60,
}

/** What a job or an hour of audio costs a server, and what a server can do. */
export const server = {
  cores: 16,
  wireMegabytesPerSecond: 1250,
  requestsPerJob: 3,
  megabytesPerHour: 60,
  measured: {
    postsPerSecond: 1000,
    /** One thread hands out all jobs. */
    handOverCpuSeconds: 0.005,
    inspectionCpuSecondsPerHour: 2.6,
    /** Four uploads at once, on two cores. */
    uploadMegabytesPerSecond: 522,
    databaseMegabytesPerHour: 1,
    copySecondsPerGigabyte: 2.7,
  },
}
