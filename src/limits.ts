// The limits that an operator cannot change. Values that an operator can change are settings, with a default in
// config.ts.

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const KB = 1024
const MB = 1024 ** 2
const GB = 1024 ** 3

export const limits = {
  // Media
  mediaRedirectsMax: 5,
  /** Timeout of an inspection. It is long because the child has the lowest priority and waits for busy engines. */
  mediaInspectMs: 25 * minute,
  /** The longest time without a message from a child that decodes. */
  mediaStallMs: 2 * minute,
  /**
   * CPU time of a media child: until the file is open, for a whole inspection, and for decoding. Ten hours of audio
   * take 20 s to inspect. A file with 100,000 tags takes minutes to open.
   */
  mediaOpenCpuMs: 20 * second,
  mediaInspectCpuMs: 2 * minute,
  mediaDecodeCpuMs: 30 * minute,
  /** Damaged packets in the first half minute of sound. A file with more is refused. */
  mediaDamagedPacketsMax: 2000,
  /** Memory of a media child in addition to what it uses at its start. The index of a 10 h film takes about 150 MB. */
  mediaMemoryBytes: 640 * MB,
  /** Bytes that are read from a file to find its streams. In a broadcast a stream may begin late. */
  mediaProbeBytes: 32 * MB,
  /** Interval of the child's heartbeat while it has nothing else to send. */
  mediaAliveEveryMs: 1 * second,
  /**
   * Decoding may exceed the duration limit of an inspection by this much. Only a file with wrong timestamps needs it.
   */
  mediaMarginMs: 1 * minute,

  // Requests
  bodyBytesMax: 100 * KB,
  urlLengthMax: 2048,
  filenameLengthMax: 255,
  speakerCountMax: 50,
  promptLengthMax: 1000,
  vocabularyTermsMax: 100,
  vocabularyTermLengthMax: 80,
  pageSizeMax: 200,
  pageSizeDefault: 50,
  idempotencyKeyLengthMax: 255,
  idempotencyRetryAfterMs: 1 * second,
  rateWindowMs: 1 * minute,

  // Uploads
  uploadBufferBytes: 1 * MB,
  /** Concurrent PUTs of one account. Each needs three file descriptors. */
  uploadsInFlightMax: 256,
  uploadRetryAfterMs: 1 * second,
  /** After this many bytes of a PUT, free disk space and the quota of the account are checked again. */
  uploadCheckBytes: 16 * MB,

  // Jobs
  /** Concurrent downloads and inspections; the others wait in a queue. */
  downloadsMax: 32,
  inspectionsMax: 4,
  /** Minimum interval between two progress updates of a job. */
  progressEveryMs: second / 2,
  /** Maximum number of jobs whose media is removed in one sweep. The next sweep continues. */
  mediaRemovalsMax: 1000,

  // Outgoing requests: downloads and webhooks
  /** Timeout of name look-up, connection and TLS together, per hop. */
  connectTimeoutMs: 15 * second,
  /** Timeout of the whole look-up of a name. `resolveTryMs` is the timeout of one attempt at one name server. */
  resolveTimeoutMs: 5 * second,
  resolveTryMs: 2 * second,
  resolveTriesMax: 2,
  /** Concurrent look-ups over all accounts. More than the downloads and webhooks of one account can need. */
  resolvesMax: 512,
  /** Time for which a name without addresses is cached. */
  unknownNameMs: 30 * second,
  unknownNamesMax: 10_000,
  /** Delay before the next address of a name is tried, when the previous one has not answered. */
  connectNextAfterMs: 300,
  connectAddressesMax: 8,
  /** Timeout from the sent request to the end of the response headers. */
  answerTimeoutMs: 60 * second,
  answerHeaderBytesMax: 64 * KB,

  // Downloads
  /** A download has stalled when fewer than `downloadStallBytesMin` arrive in this time. */
  downloadStallMs: 60 * second,
  downloadStallBytesMin: 16 * KB,
  /** Minimum average rate in bytes a second. It applies to the whole download, after `downloadRateAfterMs`. */
  downloadRateBytesMin: 16 * KB,
  downloadRateAfterMs: 60 * second,
  /** Attempts in a row that do not add `downloadFurtherBytes` to the file. */
  downloadTriesMax: 5,
  downloadFurtherBytes: 1024 * KB,
  /** First delay of the exponential backoff between attempts. */
  downloadRetryPauseMs: 1 * second,
  /** Number of bytes that are enough to distinguish a web page from media. */
  sniffBytes: 512,
  /** Bytes of a web page that are searched for a sign-in form. */
  pageBytesMax: 64 * KB,

  // Cues of an export
  cueWords: { default: 4, min: 1, max: 50 },
  cueChars: { default: 80, min: 10, max: 500 },
  cueSeconds: { default: 10, min: 1, max: 60 },
  stripCharsMax: 32,
  /** Minimum display time of a cue, unless the next cue begins earlier. */
  cueVisibleMsMin: 100,

  // Webhooks
  webhookRedirectsMax: 1,
  /** Concurrent deliveries, over all jobs. */
  webhooksInFlightMax: 256,
  /** Timeouts in a row that open the circuit breaker: deliveries of an account to this host are skipped. */
  webhookTimeoutsMax: 10,
  /** Time that an open circuit breaker skips deliveries before it tries one. */
  webhookSkippedMs: 1 * minute,
  webhookTimeoutsKeptMs: 1 * hour,

  // Accounts and money
  activeKeysMax: 5,
  passwordLengthMin: 10,
  passwordLengthMax: 1024,
  emailLengthMax: 254,
  emailLocalBytesMax: 64,
  /** Memory of one argon2id hash. With three passes it takes about 0.25 s on a small machine. */
  passwordHashBytes: 64 * 1024 * KB,
  passwordHashPasses: 3,
  mailTimeoutMs: 30 * second,
  verificationTtlMs: 24 * hour,
  /** An address gets one mail in this time, however often it signs up. */
  verificationMailEveryMs: 10 * minute,
  /** Without a mail server: a mail in the data folder is kept for this long. */
  mailKeptMs: 48 * hour,
  depositCentsMin: 500,
  firstCreditCents: 10_000,
  /** The ledger's unit is 1/3600 cent: the price of one second at one cent an hour. */
  unitsPerCent: 3600,

  // The database
  /** SQLite's busy timeout: how long a command waits while the server writes, and the server while a command writes. */
  databaseBusyMs: 10 * second,
  /**
   * The busy timeout of the server. It is short, because the server answers no request while it waits. A PUT is retried
   * for `databaseBusyMs`.
   */
  serverBusyMs: second / 4,
  busyRetryAfterMs: 1 * second,
  /** Time for which the result of the database check is cached. */
  readyEveryMs: 1 * second,

  // The program
  /** An older draft was left by a killed process. */
  draftKeptMs: 1 * hour,
  /** Timeout of the version check that `steno upgrade` runs on a new build. */
  versionAnswerMs: 30 * second,

  // The engine
  engineLoadMs: 10 * minute,
  /**
   * The longest time without a message from a busy engine. On a slow machine one step of a large model takes half a
   * minute.
   */
  engineStallMs: 5 * minute,
  /** A worker is replaced after this many jobs, because its libraries may leak memory. */
  engineJobsMax: 100,
  engineTriesMax: 2,
  /** First delay of the exponential backoff after a model failed to load. */
  engineRetryMs: 5 * second,
  engineRetryMsMax: 5 * minute,
  /** Interval of progress reports. Each report also lets the child's event loop run. */
  engineReportEveryMs: second / 4,
  /** Memory for the decoder's cache, for all rows of a batch. */
  engineCacheBytes: { cpu: 0.75 * GB, gpu: 8 * GB },

  // Models
  /** Attempts in a row that add no byte to a file. */
  pullTriesMax: 5,
  /** Poll interval while another process downloads the same model. */
  pullWaitMs: 250,
  /** A header of a safetensors file that claims to be longer is damaged. */
  tensorHeaderBytesMax: 100 * MB,

  // Stopping
  /** Time that running requests and deliveries get after SIGTERM. */
  stopGraceMs: 10 * second,
  /** During the grace period, an upload without new bytes for this time is aborted. */
  stopIdleMs: 1 * second,
} as const

/**
 * Requests per minute. They are counted per key and endpoint, but `ip` (all endpoints together), `service` and
 * `accounts.create` are counted per address.
 */
export const rates = {
  ip: 300,
  service: 100,
  'uploads.create': 60,
  'jobs.create': 60,
  'jobs.get': 200,
  'jobs.list': 60,
  'jobs.cancel': 30,
  'jobs.delete': 30,
  'balance.get': 100,
  'accounts.create': 10,
} as const

export type RateName = keyof typeof rates
