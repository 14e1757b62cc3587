// The limits that an operator cannot change. What an operator may change is a setting, with its default in config.ts.

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const KB = 1024
const MB = 1024 ** 2
const GB = 1024 ** 3

export const limits = {
  // Media
  mediaRedirectsMax: 5,
  /** Timeout of an inspection. It is long: the child has the lowest priority and waits for busy engines. */
  mediaInspectMs: 25 * minute,
  /** The longest silence of a child that decodes. */
  mediaStallMs: 2 * minute,
  /** CPU time of a media child: until the file is open, for an inspection and for decoding. Ten hours of audio take
   *  20 s to inspect. A file with 100,000 tags takes minutes to open. */
  mediaOpenCpuMs: 20 * second,
  mediaInspectCpuMs: 2 * minute,
  mediaDecodeCpuMs: 30 * minute,
  /** Damaged packets in the first half minute of sound. A file with more is refused. */
  mediaDamagedPacketsMax: 2000,
  /** Memory of a media child beyond what it starts with. The index of a 10 h film takes about 150 MB. */
  mediaMemoryBytes: 640 * MB,
  /** Bytes of a file that are read to find its streams: in a broadcast a stream may begin late. */
  mediaProbeBytes: 32 * MB,
  /** Interval of the child's heartbeat while it has nothing else to send. */
  mediaAliveEveryMs: 1 * second,
  /** Decoding may exceed the limit of an inspection by this much. Only wrong timestamps need more. */
  mediaMarginMs: 1 * minute,

  // Requests
  bodyBytesMax: 100 * KB,
  urlLengthMax: 2048,
  filenameLengthMax: 255,
  speakerCountMax: 50,
  pageSizeMax: 200,
  pageSizeDefault: 50,
  idempotencyKeyLengthMax: 255,
  idempotencyRetryAfterMs: 1 * second,
  rateWindowMs: 1 * minute,

  // Uploads
  uploadBufferBytes: 1 * MB,
  /** PUTs of one account under way at once. Each takes three file descriptors. */
  uploadsInFlightMax: 256,
  uploadRetryAfterMs: 1 * second,
  /** After this many bytes of a PUT, the room on the disk and of the account is looked at again. */
  uploadCheckBytes: 16 * MB,

  // Jobs
  /** Concurrent downloads and inspections; the others wait in a queue. */
  downloadsMax: 32,
  inspectionsMax: 4,
  /** Shortest interval between two progress updates of a job. */
  progressEveryMs: second / 2,
  /** Jobs whose media is removed in one sweep; the next sweep continues. */
  mediaRemovalsMax: 1000,

  // Outgoing requests: downloads and webhooks
  /** Timeout of name lookup, connection and TLS of one hop together. */
  connectTimeoutMs: 15 * second,
  /** The whole look-up of a name, and one try at one name server. */
  resolveTimeoutMs: 5 * second,
  resolveTryMs: 2 * second,
  resolveTriesMax: 2,
  /** Look-ups at once, over all accounts: more than the downloads and webhooks of one account can need. */
  resolvesMax: 512,
  /** A name without addresses is not looked up again for this long. */
  unknownNameMs: 30 * second,
  unknownNamesMax: 10_000,
  /** Delay before the next address of a name is tried beside one that has not answered. */
  connectNextAfterMs: 300,
  connectAddressesMax: 8,
  /** Timeout from the sent request to the end of the response headers. */
  answerTimeoutMs: 60 * second,
  answerHeaderBytesMax: 64 * KB,

  // Downloads
  /** A download has stalled when fewer than `downloadStallBytesMin` arrive in this time. */
  downloadStallMs: 60 * second,
  downloadStallBytesMin: 16 * KB,
  /** Lowest average rate in bytes a second, measured over the whole download once it has lasted this long. */
  downloadRateBytesMin: 16 * KB,
  downloadRateAfterMs: 60 * second,
  /** Tries in a row that do not add `downloadFurtherBytes` to the file. */
  downloadTriesMax: 5,
  downloadFurtherBytes: 1024 * KB,
  /** First pause of the exponential backoff between tries. */
  downloadRetryPauseMs: 1 * second,
  /** Bytes that are enough to tell a web page from media. */
  sniffBytes: 512,
  /** Bytes of a web page that are searched for a sign-in. */
  pageBytesMax: 64 * KB,

  // Cues of an export
  cueWords: { default: 4, min: 1, max: 50 },
  cueChars: { default: 80, min: 10, max: 500 },
  cueSeconds: { default: 10, min: 1, max: 60 },
  stripCharsMax: 32,
  /** Shortest display time of a cue, unless the next cue begins before. */
  cueVisibleMsMin: 100,

  // Webhooks
  webhookRedirectsMax: 1,
  /** Concurrent deliveries, over all jobs. */
  webhooksInFlightMax: 256,
  /** Timeouts in a row after which the deliveries of an account to a host are skipped. */
  webhookTimeoutsMax: 10,
  /** Time that deliveries are skipped before one is tried again. */
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
  depositCentsMin: 500,
  firstCreditCents: 10_000,
  /** The ledger counts in 1/3600 cent: one second at one cent an hour. */
  unitsPerCent: 3600,

  // The database
  /** SQLite's busy timeout: a command waits this long for a server that writes, and the other way round. */
  databaseBusyMs: 10 * second,

  // The program
  /** A draft older than this was left by a process that was killed. */
  draftKeptMs: 1 * hour,
  /** Timeout of the version check that `steno upgrade` makes of a new build. */
  versionAnswerMs: 30 * second,

  // The engine
  engineLoadMs: 10 * minute,
  /** The longest silence of a busy engine: on a slow machine one step of a large model takes half a minute. */
  engineStallMs: 5 * minute,
  /** A worker is replaced after this many jobs, because its libraries may leak memory. */
  engineJobsMax: 100,
  engineTriesMax: 2,
  /** First pause of the exponential backoff after a model did not load. */
  engineRetryMs: 5 * second,
  engineRetryMsMax: 5 * minute,
  /** The interval of progress reports. Each one lets the event loop of the child run. */
  engineReportEveryMs: second / 4,
  /** Memory for the decoder's cache of all rows of a batch. */
  engineCacheBytes: { cpu: 0.75 * GB, gpu: 8 * GB },

  // Models
  /** Tries in a row that add no byte to a file. */
  pullTriesMax: 5,
  /** Poll interval while another process downloads the same model. */
  pullWaitMs: 250,

  // Stopping
  /** Time that requests and deliveries in progress get after SIGTERM. */
  stopGraceMs: 10 * second,
  /** Of these, uploads whose bytes do not come for this long are cut. */
  stopIdleMs: 1 * second,
} as const

/**
 * Requests per minute, counted per key and endpoint. `ip` (all endpoints together), `service` and `accounts.create` are
 * counted per address.
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
