// The limits that an operator cannot change. The values that an operator can change are settings in config.ts.

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const KB = 1024
const MB = 1024 ** 2
const GB = 1024 ** 3

export const limits = {
  // Limits of reading media files.
  mediaRedirectsMax: 5,
  /**
   * Timeout of an inspection. The timeout is long, because busy engines have a higher CPU priority than
   * inspections.
   */
  mediaInspectMs: 25 * minute,
  /** The longest time without a message from the child process that decodes media. */
  mediaStallMs: 2 * minute,
  /** Interval of the attempts to start the media program while the server has no free file descriptor. */
  mediaStartRetryMs: second / 4,
  /** The nice value of an inspection. It is the lowest priority: an inspection never delays an engine by much. */
  mediaInspectNice: 19,
  /** Maximum CPU time to open a media file. A file with 100,000 tags would need minutes. */
  mediaOpenCpuMs: 20 * second,
  /** Maximum CPU time of a whole inspection. Ten hours of audio need 20 s. */
  mediaInspectCpuMs: 2 * minute,
  /** Maximum CPU time to decode a media file. */
  mediaDecodeCpuMs: 30 * minute,
  /**
   * Maximum number of damaged packets in the first half minute of sound. A file with more packets is refused.
   */
  mediaDamagedPacketsMax: 2000,
  /**
   * Memory that a media child may allocate after its start. FFmpeg's index of a film of ten hours would take about
   * 150 MB.
   */
  mediaMemoryBytes: 640 * MB,
  /**
   * Bytes that are read from a file to find its streams. In a recorded broadcast, a stream may begin late.
   */
  mediaProbeBytes: 32 * MB,
  /** Interval of the heartbeat of a media child that has no other message to send. */
  mediaAliveEveryMs: 1 * second,
  /**
   * Sound that is decoded beyond the maximum duration, before the file is refused. Only a file with wrong
   * timestamps has so much sound.
   */
  mediaMarginMs: 1 * minute,

  // Limits of requests to the API.
  bodyBytesMax: 100 * KB,
  /** Maximum length of the boundary of a form. RFC 2046 allows 70 characters; some senders use more. */
  formBoundaryLengthMax: 256,
  /** Maximum size of the headers of one part of a form. */
  formHeadBytesMax: 16 * KB,
  /** Maximum number of bytes before the first part of a form, and of bytes after its last part. */
  formAroundBytesMax: 64 * KB,
  /** Maximum size of all fields of a form except its file. */
  formFieldsBytesMax: 100 * KB,
  /** Bytes that a form may have in addition to its file: the fields, the boundaries and the heads of the parts. */
  formExtraBytesMax: 1 * MB,
  urlLengthMax: 2048,
  filenameLengthMax: 255,
  speakerCountMax: 50,
  /**
   * Maximum number of channels of a recording that is transcribed channel by channel. Each channel takes as long as a
   * whole recording.
   */
  splitChannelsMax: 8,
  promptLengthMax: 1000,
  vocabularyTermsMax: 100,
  vocabularyTermLengthMax: 80,
  metadataFieldsMax: 16,
  metadataNameLengthMax: 64,
  metadataTextLengthMax: 500,
  /** Maximum number of fields of an object in the body of a request. */
  objectFieldsMax: 100,
  pageSizeMax: 200,
  pageSizeDefault: 50,
  idempotencyKeyLengthMax: 255,
  idempotencyRetryAfterMs: 1 * second,
  rateWindowMs: 1 * minute,
  /**
   * Time for which a response that waits for a job sends no bytes. Most proxies close an idle connection after a
   * minute.
   */
  answerQuietMs: 30 * second,
  /** Interval of the keep-alive bytes of a response that waits for a job. */
  answerBeatMs: 15 * second,

  // Limits of uploads.
  uploadBufferBytes: 1 * MB,
  /** Maximum number of concurrent PUTs of one account. Each PUT needs three file descriptors. */
  uploadsInFlightMax: 256,
  uploadRetryAfterMs: 1 * second,
  /** A PUT checks the free disk space and the quota of the account each time it has received this many bytes. */
  uploadCheckBytes: 16 * MB,

  // Limits of jobs.
  /** Maximum number of concurrent downloads, and of concurrent inspections. Further jobs wait in a queue. */
  downloadsMax: 32,
  inspectionsMax: 4,
  /**
   * Bounds of the time after an inspection without a result in which the same account gets no further inspection. So an
   * account that sends damaged files cannot occupy the disk and the HTTP server with them.
   */
  inspectionRestMs: { min: second / 2, max: 1 * minute },
  /** Minimum interval between two progress updates of a job. */
  progressEveryMs: second / 2,
  /** Minimum interval between two notifications of listeners about a running job. */
  liveEveryMs: 1 * second,
  /** Interval of the comments in a stream of events that has nothing else to send. */
  streamAliveMs: 15 * second,
  /** Delay after which a client reconnects to an interrupted event stream. */
  streamRetryMs: 2 * second,
  /** Maximum time, in seconds, that a request waits for the end of a job. */
  waitSeconds: { default: 0, min: 0, max: 60 },
  /** Maximum number of jobs whose media is removed in one sweep. The next sweep removes more. */
  mediaRemovalsMax: 1000,
  /** Maximum number of jobs that are deleted in one sweep because they are too old. */
  jobRemovalsMax: 100,

  // Limits of outgoing requests, which are downloads and webhooks.
  /**
   * Timeout for the DNS look-up, the connection and the TLS handshake together. It starts again at each
   * redirect.
   */
  connectTimeoutMs: 15 * second,
  /** Timeout of a DNS look-up with all its attempts. */
  resolveTimeoutMs: 5 * second,
  /** Timeout of one attempt at one name server. */
  resolveTryMs: 2 * second,
  resolveTriesMax: 2,
  /**
   * Maximum number of concurrent DNS look-ups, over all accounts. One account alone cannot reach this number.
   */
  resolvesMax: 512,
  /** Time for which the server remembers that a host name has no address. */
  unknownNameMs: 30 * second,
  unknownNamesMax: 10_000,
  /**
   * Delay before the connection to the next address of a host name is tried, if the previous address has not
   * answered.
   */
  connectNextAfterMs: 300,
  connectAddressesMax: 8,
  /** Timeout for the response headers. It begins when the request has been sent. */
  answerTimeoutMs: 60 * second,
  answerHeaderBytesMax: 64 * KB,

  // Limits of downloads.
  /** An attempt of a download fails when fewer than `downloadStallBytesMin` bytes arrive in this time. */
  downloadStallMs: 60 * second,
  downloadStallBytesMin: 16 * KB,
  /** Minimum average rate in bytes a second. It applies to the whole download, after `downloadRateAfterMs`. */
  downloadRateBytesMin: 16 * KB,
  downloadRateAfterMs: 60 * second,
  /**
   * A download fails after this many attempts in a row that each add less than `downloadFurtherBytes` to the
   * file.
   */
  downloadTriesMax: 5,
  downloadFurtherBytes: 1024 * KB,
  /** First delay of the exponential backoff between two attempts of a download. */
  downloadRetryPauseMs: 1 * second,
  /** Number of bytes at the start of a download that distinguish a web page from media. */
  sniffBytes: 512,
  /** Maximum number of bytes of a web page that are searched for a sign-in form. */
  pageBytesMax: 64 * KB,

  // Limits and defaults of the cues in an export.
  cueWords: { default: 4, min: 1, max: 50 },
  cueChars: { default: 80, min: 10, max: 500 },
  cueSeconds: { default: 10, min: 1, max: 60 },
  stripCharsMax: 32,
  /** Minimum display time of a cue, unless the next cue begins earlier. */
  cueVisibleMsMin: 100,

  // Limits of webhooks.
  webhookRedirectsMax: 1,
  /** Maximum number of concurrent deliveries of webhooks, over all jobs. */
  webhooksInFlightMax: 256,
  /** Number of timeouts in a row that open the circuit breaker of one account and one host. */
  webhookTimeoutsMax: 10,
  /**
   * Time for which an open circuit breaker skips deliveries. After this time, the circuit breaker admits one
   * delivery.
   */
  webhookSkippedMs: 1 * minute,
  /** Time after which the circuit breaker forgets the timeouts of a host. */
  webhookTimeoutsKeptMs: 1 * hour,
  /**
   * The pause after the first failed attempt of a delivery. Each further pause is `webhookRetryFactor` times as long.
   * Five retries take 23 hours.
   */
  webhookRetryMs: 4 * minute,
  webhookRetryFactor: 4,
  webhookRetryMsMax: 24 * hour,
  deliveriesShownMax: 100,

  // Limits of accounts and money.
  activeKeysMax: 5,
  keyNameLengthMax: 80,
  /** Minimum interval between two updates of the stored last use of a key. */
  keyUseEveryMs: 1 * minute,
  passwordLengthMin: 10,
  passwordLengthMax: 1024,
  emailLengthMax: 254,
  emailLocalBytesMax: 64,
  /**
   * Memory that one argon2id hash needs. Three passes over this memory take about 0.25 s on a small machine.
   */
  passwordHashBytes: 64 * 1024 * KB,
  passwordHashPasses: 3,
  mailTimeoutMs: 30 * second,
  /** Timeout of each step of the check of the mail server in `steno doctor`. */
  mailCheckMs: 10 * second,
  verificationTtlMs: 24 * hour,
  /** Minimum time between two verification mails to the same email address. */
  verificationMailEveryMs: 10 * minute,
  /** Time after its last use for which a sign-in session is valid. */
  sessionTtlMs: 30 * day,
  /** Minimum interval between two updates of the stored last use of a session. */
  sessionUseEveryMs: 1 * minute,
  /** Maximum number of sessions of one account. */
  sessionsMax: 50,

  // Limits of OAuth.
  /** Time in which a client must exchange the code that it got from the consent page. */
  codeTtlMs: 1 * minute,
  accessTokenTtlMs: 1 * hour,
  /**
   * Time for which a refresh token is valid. Each use of a refresh token issues a new refresh token, which is valid
   * for this time again.
   */
  refreshTokenTtlMs: 30 * day,
  /** Maximum number of grants of one account. */
  grantsMax: 50,
  /** Time for which a client without a grant is kept after the last use of the client. */
  clientKeptMs: 60 * day,
  clientNameLengthMax: 100,
  redirectUrisMax: 10,
  stateLengthMax: 4096,

  // Limits of the tools for assistants.
  /** Longest time for which a tool waits for a job. MCP clients time out after 60 s. */
  toolWaitMs: 45 * second,
  /** Number of characters on one page of a transcript: about 10,000 tokens of a language model. */
  toolPageCharacters: 30_000,
  toolItemsMax: 50,
  toolItemsDefault: 20,
  /** Time for which a mail file is kept in the data folder. Mails become files when no mail server is set. */
  mailKeptMs: 48 * hour,
  depositCentsMin: 500,
  firstCreditCents: 10_000,
  /** The unit of the ledger is 1/3600 cent. At a price of one cent an hour, one second costs one unit. */
  unitsPerCent: 3600,

  // Limits of the operator's page in the web app.
  hourMs: 1 * hour,
  /** Number of hours that the charts show. */
  shownHours: 24,
  /** Period of the totals in the operator's list of accounts. */
  shownAccountsMs: 30 * day,
  shownAccounts: 100,
  /** Maximum number of requests in the request log, which is in memory. */
  loggedRequests: 100,

  // Limits of a pair of servers.
  /** Number of times that a server renews its lease, or looks at the lease of the other server, within the timeout. */
  standbyLooks: 10,
  /** Number of copies of the database that the shared folder keeps. */
  standbyCopies: 3,

  // Limits of the database.
  /**
   * SQLite's busy timeout for the commands: the longest time that a command waits while the server writes.
   */
  databaseBusyMs: 10 * second,
  /**
   * SQLite's busy timeout for the server. The timeout is short, because a waiting server answers no request.
   * Only the write at the end of a PUT is retried, for `databaseBusyMs`.
   */
  serverBusyMs: second / 4,
  busyRetryAfterMs: 1 * second,
  /** Time for which /v1/ready caches the result of its test write to the database. */
  readyEveryMs: 1 * second,

  // Limits of the checks of `steno doctor`.
  /** Number of bytes that `steno doctor` writes to measure the speed of the disk. */
  diskProbeBytes: 32 * MB,
  /** Minimum speed of the disk in bytes a second. On a slower disk, concurrent uploads wait for the disk. */
  diskBytesPerSecondMin: 10 * MB,
  healthTimeoutMs: 5 * second,

  // Limits of the terminal.
  /** Poll interval while a non-blocking pipe is full. */
  terminalRetryMs: 5,
  /** Interval at which the command `watch` reads the folder. */
  watchEveryMs: 2 * second,
  /** Minimum interval between two progress lines of a command whose stderr is not a terminal. */
  terminalReportEveryMs: 10 * second,

  // Limits of stored transcripts.
  /** Maximum number of utterances that one transaction stores. Ten hours of speech have about 10,000. */
  storedUtterancesPerPiece: 100,
  /** Number of stored pieces after which the write-ahead log is moved into the database file. */
  storedPiecesPerDrain: 8,
  /** Pause before each transaction that stores a part of a long transcript. The server answers requests meanwhile. */
  storePauseMs: 1,

  // Limits of search and edits.
  /**
   * Maximum size of the body of an edit. The limit is larger than the limit of other bodies, so that the validation
   * can name a field that is too long.
   */
  editBytesMax: 4 * MB,
  editedUtterancesMax: 1000,
  editedTextLengthMax: 10_000,
  speakerNameLengthMax: 80,
  /** Number of words after which a transaction of the indexer ends. */
  indexedWordsPerPiece: 1000,
  /** Maximum number of utterances that one transaction removes from the search index. */
  removedUtterancesPerPiece: 100,
  /** Maximum number of pages of the search index that one transaction merges. */
  mergedPagesPerPiece: 24,
  /** Pause between two transactions of the indexer. The server answers requests during the pause. */
  indexPauseMs: 5,
  /**
   * Number of turns of the indexer after which it moves the write-ahead log into the database file. In five turns the
   * log grows to at most 4 MB. At 4 MB, SQLite itself would move and flush it, on the event loop.
   */
  indexTurnsPerDrain: 5,
  /** Pause after a purge of the search index, as a multiple of the duration of the purge. */
  purgePauseRatio: 4,
  searchPageSizeMax: 100,
  searchPageSizeDefault: 20,
  /** Maximum number of words of a query. A longer query finds nothing, because no utterance has so many words. */
  searchWordsMax: 200,
  /**
   * Number of utterances after which an account gets another part of the search index. A merge of the index then
   * blocks the event loop for 6 ms at most.
   */
  searchPartUtterances: 65_536,
  /** Number of the newest hits that the order `best` ranks. Ranking 1000 hits takes about 30 ms. */
  searchRankedMax: 1000,

  // Limits of drafts and upgrades.
  /** Age at which a draft is removed. Only a killed process leaves a draft that is so old. */
  draftKeptMs: 1 * hour,
  /** Timeout of the version check that `steno upgrade` runs on a new build. */
  versionAnswerMs: 30 * second,

  // Limits of the engine.
  /**
   * The nice value of an engine, and of the process that decodes media for it. The server has 0 and is served first.
   * Inspections have 19: with the same value, three inspections of hostile files would halve the speed of every engine.
   */
  engineNice: 10,
  engineLoadMs: 10 * minute,
  /**
   * The longest time without a message from a busy engine. On a slow machine, one run of a large model over a
   * batch takes half a minute.
   */
  engineStallMs: 5 * minute,
  /** Interval at which a busy engine is checked for a signal that stopped it. */
  engineLookMs: 5 * second,
  /** A worker is replaced after this many jobs, because its libraries may leak memory. */
  engineJobsMax: 100,
  engineTriesMax: 2,
  /** First delay of the exponential backoff after a model failed to load. */
  engineRetryMs: 5 * second,
  engineRetryMsMax: 5 * minute,
  /**
   * Interval of the progress reports of an engine. At each report, the child process also runs its event
   * loop.
   */
  engineReportEveryMs: second / 4,
  /** Maximum number of utterances in one message of an engine child process. */
  enginePartUtterances: 100,
  /** Memory for the decoder's cache, for all rows of a batch together. */
  engineCacheBytes: { cpu: 0.75 * GB, gpu: 8 * GB },

  // Limits of enrolled voices.
  /** Maximum number of voices of one account. */
  voicesMax: 100,
  /** Maximum number of concurrent child processes that make voice prints. Further enrolments wait in a queue. */
  voicePrintsMax: 2,
  /** Timeout of the child process that makes a voice print. */
  voicePrintMs: 5 * minute,

  // Limits of model files.
  /** The download of a model file fails after this many attempts in a row that add no byte to the file. */
  pullTriesMax: 5,
  /** Poll interval while another process downloads the same model. */
  pullWaitMs: 250,
  /** Maximum length of the header of a safetensors file. A file that declares a longer header is damaged. */
  tensorHeaderBytesMax: 100 * MB,

  // Limits of workers on other machines.
  natsConnectMs: 5 * second,
  natsReconnectMs: 1 * second,
  /** Interval of pings to NATS. A connection without two answers is opened again. */
  natsPingMs: 10 * second,
  /** Claims of one job, after which the job fails. */
  workerAttemptsMax: 4,
  /** Interval of the reports of a worker on a job. The answer to a report also stops a cancelled job. */
  workerBeatMs: 1 * second,
  /** Longest interval between two greetings of a worker. */
  workerHelloMs: 5 * second,
  /** Timeout of a request to the server. */
  workerRequestMs: 10 * second,
  /** First and longest delay before a worker repeats a request that failed. */
  workerRetryMs: second / 2,
  workerRetryMsMax: 10 * second,
  /** Poll interval of a worker that waits for its engine or for the first answer of the server. */
  workerReadyMs: second / 10,
  /** Time that a request for the next job waits at NATS. */
  workerPullMs: 2 * second,
  /** Life of a signed address of media or of a result. A worker can get a new address. */
  workerAddressMs: 15 * minute,
  /** Largest result that is sent by HTTP. NATS takes results up to its own limit, which is 1 MB by default. */
  workerResultBytesMax: 256 * MB,
  /** Dead letters that `steno workers list` shows. */
  deadLettersListed: 20,
  /** Age of the list of workers from which `steno workers list` assumes that no server runs. */
  workerListOldMs: 1 * minute,
  /** Size of the utterances in one report. */
  workerReportBytesMax: 256 * KB,

  // Timeouts while the server stops.
  /** Time that running requests and deliveries get after SIGTERM. */
  stopGraceMs: 10 * second,
  /** During the grace period, an upload without new bytes for this time is aborted. */
  stopIdleMs: 1 * second,
} as const

/**
 * The rate limits, in requests per minute. `ip` limits all requests from one IP address. The limits `service`,
 * `accounts.create`, `sessions.create` and the limits of OAuth are also counted per IP address. All other limits are
 * counted per API key. A client with an access token counts as one key. All sign-in sessions of an account together
 * count as one key. `events.open` is not a rate: it limits the number of event streams that are open at the same
 * time.
 */
export const rates = {
  ip: 300,
  service: 100,
  'uploads.create': 60,
  'jobs.create': 60,
  'jobs.get': 200,
  'jobs.list': 60,
  events: 30,
  'events.open': 20,
  deliveries: 60,
  'jobs.cancel': 30,
  'jobs.delete': 30,
  'jobs.edit': 60,
  search: 60,
  voices: 30,
  openai: 60,
  'balance.get': 100,
  'accounts.create': 10,
  'sessions.create': 10,
  app: 120,
  'oauth.register': 10,
  'oauth.authorize': 10,
  'oauth.token': 10,
  'oauth.revoke': 10,
  mcp: 120,
} as const

export type RateName = keyof typeof rates
