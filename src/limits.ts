// Every number that is a decision of ours. What an operator may change is a setting, with its default in config.ts.

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const KB = 1024
const MB = 1024 ** 2
const GB = 1024 ** 3

export const limits = {
  // Media
  mediaRedirectsMax: 5,
  /** The child that reads a media file: its whole time for an inspection (it has the lowest priority, and may have
   *  to wait for engines that take every core), and silence before a decoding one counts as hung. */
  mediaInspectMs: 25 * minute,
  mediaStallMs: 2 * minute,
  mediaCpuMs: 30 * minute,
  /** What it may allocate beyond what it starts with. The index of a 10 h film takes about 150 MB of it. */
  mediaMemoryBytes: 640 * MB,
  /** How much of a file is read to find its streams: in a broadcast one may begin late. */
  mediaProbeBytes: 32 * MB,
  /** The child reports that it lives when it has had nothing to send for this long. */
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
  /** A request whose bytes stop coming for this long is dropped. An upload of 5 GB may still take hours. */
  requestIdleMs: 60 * second,

  // Uploads
  uploadBufferBytes: 1 * MB,

  // Jobs
  /** Downloads and inspections that run beside one another; the rest wait their turn. */
  downloadsMax: 32,
  inspectionsMax: 4,
  /** Progress is written no more often than this. */
  progressEveryMs: second / 2,
  /** Jobs whose media one sweep removes; the next sweep goes on. */
  mediaRemovalsMax: 1000,

  // Calls to the outside: downloads and webhooks
  /** Name, connection and TLS of one hop together. */
  connectTimeoutMs: 15 * second,
  /** A name that has to be looked up while a caller waits. */
  resolveTimeoutMs: 5 * second,
  /** An address that has not answered for this long is joined by the next one of the same name. */
  connectNextAfterMs: 300,
  connectAddressesMax: 8,
  /** From the sent request to the end of the answer's headers. */
  answerTimeoutMs: 60 * second,
  answerHeaderBytesMax: 64 * KB,

  // Downloads
  /** Fewer bytes than this in a stall window: the download has stalled. */
  downloadStallMs: 60 * second,
  downloadStallBytesMin: 16 * KB,
  /** Tries in a row that do not get the file further by the bytes below. */
  downloadTriesMax: 5,
  downloadFurtherBytes: 1024 * KB,
  /** Doubles with each try that got no further. */
  downloadRetryPauseMs: 1 * second,
  /** How much is looked at to tell a page from media, and of a page to find out whether it asks for a sign-in. */
  sniffBytes: 512,
  pageBytesMax: 64 * KB,

  // Cues of an export: default, lowest, highest
  cueWords: { default: 4, min: 1, max: 50 },
  cueChars: { default: 80, min: 10, max: 500 },
  cueSeconds: { default: 10, min: 1, max: 60 },
  stripCharsMax: 32,
  /** A cue without length is shown for this long, where the next one leaves room. */
  cueVisibleMsMin: 100,

  // Webhooks
  webhookRedirectsMax: 1,
  /** Deliveries under way at once, over all jobs. */
  webhooksInFlightMax: 256,

  // Accounts and money
  activeKeysMax: 5,
  passwordLengthMin: 10,
  passwordLengthMax: 1024,
  emailLengthMax: 254,
  emailLocalBytesMax: 64,
  /** What each hash takes for a moment: about a quarter of a second on a small machine. */
  passwordHashBytes: 64 * 1024 * KB,
  passwordHashPasses: 3,
  mailTimeoutMs: 30 * second,
  verificationTtlMs: 24 * hour,
  depositCentsMin: 500,
  firstCreditCents: 10_000,
  /** The ledger counts in 1/3600 cent: one second at one cent an hour. */
  unitsPerCent: 3600,

  // The database
  /** How long a command waits for a server that is writing, and the other way round. */
  databaseBusyMs: 10 * second,

  // The program
  /** A draft older than this was left by a process that was killed. */
  draftKeptMs: 1 * hour,
  /** How long a new build may take to name its version before `steno upgrade` refuses it. */
  versionAnswerMs: 30 * second,

  // The engine
  engineLoadMs: 10 * minute,
  /** The longest silence of a child at work; on a slow machine one step of a large model takes half a minute. */
  engineStallMs: 5 * minute,
  /** A child is replaced after this many jobs, with whatever its libraries have kept for themselves. */
  engineJobsMax: 100,
  engineTriesMax: 2,
  /** Pause before a model that did not load is tried again; doubles. */
  engineRetryMs: 5 * second,
  engineRetryMsMax: 5 * minute,
  /** The interval of progress reports. Each one lets the event loop of the child run. */
  engineReportEveryMs: second / 4,
  /** Memory for the decoder's cache of all rows of a batch. */
  engineCacheBytes: { cpu: 0.75 * GB, gpu: 8 * GB },

  // Models
  /** Tries in a row that bring no new byte of a file. */
  pullTriesMax: 5,
  /** How often who waits for another one that fetches the same model asks whether it is done. */
  pullWaitMs: 250,

  // Stopping
  /** How long requests in flight may go on after SIGTERM. */
  stopGraceMs: 10 * second,
} as const

/** Requests per minute: per key and endpoint, but `ip` (all endpoints together), `service` and `accounts.create` per address. */
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
