// The limits that an operator cannot change, and the default quotas (`rates`). All values that an operator can change,
// including the quotas, are settings in config.ts.

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
   * Timeout of the inspection of a media file. It is long because a busy engine has a higher CPU priority than an
   * inspection.
   */
  mediaInspectMs: 25 * minute,
  /**
   * Maximum time between two messages of a media child process. If the child process is silent for longer, it is
   * killed.
   */
  mediaStallMs: 2 * minute,
  /** Interval at which the server retries to start the media program if there is no free file descriptor. */
  mediaStartRetryMs: second / 4,
  /**
   * The nice value of the child process that inspects a file. It is the lowest CPU priority, so that an inspection
   * hardly slows down an engine.
   */
  mediaInspectNice: 19,
  /** Maximum CPU time to open a media file. Without this limit, a file with 100,000 tags would need minutes. */
  mediaOpenCpuMs: 20 * second,
  /** Maximum CPU time of a whole inspection of a media file. An inspection of ten hours of audio needs 20 s. */
  mediaInspectCpuMs: 2 * minute,
  /** Maximum CPU time to decode a media file. */
  mediaDecodeCpuMs: 30 * minute,
  /**
   * Maximum number of damaged packets (packets that cannot be decoded) in the first half minute of sound. A file with
   * more damaged packets is refused.
   */
  mediaDamagedPacketsMax: 2000,
  /**
   * Maximum memory that a media child process may allocate after its start. FFmpeg's index of a film of ten hours takes
   * about 150 MB.
   */
  mediaMemoryBytes: 640 * MB,
  /**
   * Number of bytes at the start of a media file in which the program searches for streams. It is large, because in a
   * recorded broadcast a stream may begin late.
   */
  mediaProbeBytes: 32 * MB,
  /** Interval of the heartbeat that a media child process sends when it has no other message to send. */
  mediaAliveEveryMs: 1 * second,
  /**
   * Margin for the decoded sound of a file. A file that is longer than the maximum duration is already refused before
   * it is decoded. A job fails if the decoded sound is longer than the maximum duration plus this margin. Only a file
   * with wrong timestamps has so much sound.
   */
  mediaMarginMs: 1 * minute,

  // Limits of requests to the API.
  bodyBytesMax: 100 * KB,
  /** Maximum length of the boundary of a multipart form. RFC 2046 allows 70 characters, but some senders use more. */
  formBoundaryLengthMax: 256,
  /** Maximum size of the headers of one part of a multipart form. */
  formHeadBytesMax: 16 * KB,
  /** Maximum number of bytes before the first part of a multipart form, and after its last part. */
  formAroundBytesMax: 64 * KB,
  /** Maximum size of all fields of a multipart form together, without its file. */
  formFieldsBytesMax: 100 * KB,
  /**
   * Maximum difference between the size of a multipart form and the size of the file in it. The fields, the boundaries
   * and the headers of the parts make this difference.
   */
  formExtraBytesMax: 1 * MB,
  urlLengthMax: 2048,
  filenameLengthMax: 255,
  speakerCountMax: 50,
  /**
   * Maximum number of channels of a recording that is transcribed channel by channel. There is a limit because each
   * channel takes as long as a whole recording.
   */
  splitChannelsMax: 8,
  promptLengthMax: 1000,
  vocabularyTermsMax: 100,
  vocabularyTermLengthMax: 80,
  metadataFieldsMax: 16,
  metadataNameLengthMax: 64,
  metadataTextLengthMax: 500,
  /** Maximum number of fields of an object in the JSON body of a request. */
  objectFieldsMax: 100,
  pageSizeMax: 200,
  pageSizeDefault: 50,
  idempotencyKeyLengthMax: 255,
  idempotencyRetryAfterMs: 1 * second,
  rateWindowMs: 1 * minute,
  /**
   * Time after which a response that waits for a job begins to send keep-alive bytes. It must be shorter than a minute,
   * because most proxies close a connection that is idle for a minute.
   */
  answerQuietMs: 30 * second,
  /** Interval of the keep-alive bytes of a response that waits for a job. */
  answerBeatMs: 15 * second,

  // Limits of uploads.
  uploadBufferBytes: 1 * MB,
  /** Maximum number of concurrent uploads of one account. Each upload needs three file descriptors. */
  uploadsInFlightMax: 256,
  uploadRetryAfterMs: 1 * second,
  /**
   * Number of received bytes after which an upload checks the free disk space and the disk quota of the account again.
   */
  uploadCheckBytes: 16 * MB,

  // Limits of jobs.
  /** Maximum numbers of concurrent downloads and of concurrent inspections. Further jobs wait. */
  downloadsMax: 32,
  inspectionsMax: 4,
  /**
   * Minimum and maximum of the pause after an inspection that found no usable media. During this pause, no other file
   * of the same account is inspected. Without the pause, an account that sends damaged files could keep the disk and
   * the HTTP server busy.
   */
  inspectionRestMs: { min: second / 2, max: 1 * minute },
  /** Minimum interval between two progress updates of a job. */
  progressEveryMs: second / 2,
  /**
   * Requests can wait for changes of a running job. A change of its state or its progress is reported to these requests
   * at most once in this time. Utterances and the end of the job are reported at once.
   */
  liveEveryMs: 1 * second,
  /**
   * Interval of the comments that an event stream sends while it has no events. The comments keep the connection open.
   */
  streamAliveMs: 15 * second,
  /** Time after which a client should open an interrupted event stream again. */
  streamRetryMs: 2 * second,
  /** Maximum time, in seconds, that a request waits for the end of a job. */
  waitSeconds: { default: 0, min: 0, max: 60 },
  /** Maximum number of jobs whose media one sweep removes. The next sweep continues with other jobs. */
  mediaRemovalsMax: 1000,
  /** Maximum number of old jobs that one sweep deletes. */
  jobRemovalsMax: 100,

  // Limits of outgoing requests: downloads and webhooks.
  /**
   * Timeout for the DNS look-up, the connection and the TLS handshake together. The timeout starts again at each
   * redirect.
   */
  connectTimeoutMs: 15 * second,
  /** Timeout of a DNS look-up with all its attempts. */
  resolveTimeoutMs: 5 * second,
  /** Timeout of one attempt of a DNS look-up at one name server. */
  resolveTryMs: 2 * second,
  resolveTriesMax: 2,
  /**
   * Maximum number of concurrent DNS look-ups of all accounts together. A single account gets only a part of this
   * number.
   */
  resolvesMax: 512,
  /** Time for which the server remembers that a host name has no address. */
  unknownNameMs: 30 * second,
  unknownNamesMax: 10_000,
  /**
   * If a connection to one IP address of a host is not open after this time, a connection to the next address of the
   * host is started in parallel.
   */
  connectNextAfterMs: 300,
  connectAddressesMax: 8,
  /** Maximum time between the end of a request and the arrival of the response headers. */
  answerTimeoutMs: 60 * second,
  answerHeaderBytesMax: 64 * KB,

  // Limits of downloads.
  /** A download attempt fails if fewer than `downloadStallBytesMin` bytes arrive within `downloadStallMs`. */
  downloadStallMs: 60 * second,
  downloadStallBytesMin: 16 * KB,
  /**
   * Minimum average rate of a whole download, in bytes a second. The rate is first checked after `downloadRateAfterMs`.
   */
  downloadRateBytesMin: 16 * KB,
  downloadRateAfterMs: 60 * second,
  /**
   * A download fails after this many attempts in a row without progress. An attempt has progress if it adds at least
   * `downloadFurtherBytes` to the file.
   */
  downloadTriesMax: 5,
  downloadFurtherBytes: 1024 * KB,
  /** Pause after the first failed attempt of a download. Each further pause is twice as long. */
  downloadRetryPauseMs: 1 * second,
  /** Number of bytes at the start of a download by which the server recognises a web page. */
  sniffBytes: 512,
  /** Number of bytes at the start of a downloaded web page in which the server searches for a sign-in form. */
  pageBytesMax: 64 * KB,

  // Limits and defaults of the subtitle cues in an export.
  cueWords: { default: 4, min: 1, max: 50 },
  cueChars: { default: 80, min: 10, max: 500 },
  cueSeconds: { default: 10, min: 1, max: 60 },
  stripCharsMax: 32,
  /**
   * Time for which a cue of zero length is shown, because players skip a cue of zero length. If the next cue of the
   * same speaker begins earlier, the time is shorter.
   */
  cueVisibleMsMin: 100,

  // Limits of webhooks.
  webhookRedirectsMax: 1,
  /** Maximum number of concurrent deliveries of webhooks, over all jobs. */
  webhooksInFlightMax: 256,
  /** Number of timeouts in a row after which the circuit breaker for one account and one host opens. */
  webhookTimeoutsMax: 10,
  /**
   * Time for which an open circuit breaker skips deliveries of webhooks. After this time, it allows one delivery as a
   * test.
   */
  webhookSkippedMs: 1 * minute,
  /** Time after which a circuit breaker forgets the timeouts of a receiver. */
  webhookTimeoutsKeptMs: 1 * hour,
  /**
   * Pause after the first failed attempt of a delivery. Each further pause is `webhookRetryFactor` times as long, so
   * the last of five retries is sent about 23 hours after the first attempt.
   */
  webhookRetryMs: 4 * minute,
  webhookRetryFactor: 4,
  webhookRetryMsMax: 24 * hour,
  deliveriesShownMax: 100,

  // Limits of accounts and money.
  activeKeysMax: 5,
  keyNameLengthMax: 80,
  /** Minimum interval between two updates of the time at which an API key was last used. */
  keyUseEveryMs: 1 * minute,
  passwordLengthMin: 10,
  passwordLengthMax: 1024,
  emailLengthMax: 254,
  emailLocalBytesMax: 64,
  /**
   * Memory that one argon2id hash needs. Computing a hash passes over this memory `passwordHashPasses` times. Three
   * passes take about 0.25 s on a small machine.
   */
  passwordHashBytes: 64 * 1024 * KB,
  passwordHashPasses: 3,
  mailTimeoutMs: 30 * second,
  /** Timeout of each step when `steno doctor` checks the mail server. */
  mailCheckMs: 10 * second,
  verificationTtlMs: 24 * hour,
  /** Minimum time between two verification mails to the same email address. */
  verificationMailEveryMs: 10 * minute,
  /** Time for which a sign-in session stays valid after its last use. */
  sessionTtlMs: 30 * day,
  /** Minimum interval between two updates of the time at which a session was last used. */
  sessionUseEveryMs: 1 * minute,
  /** Maximum number of sessions of one account. */
  sessionsMax: 50,

  // Limits of OAuth.
  /** Time in which a client must exchange the authorization code of a grant for tokens. */
  codeTtlMs: 1 * minute,
  accessTokenTtlMs: 1 * hour,
  /**
   * Time for which a refresh token is valid. Each use of a refresh token gives the client another refresh token, which
   * is valid for the same time.
   */
  refreshTokenTtlMs: 30 * day,
  /** Maximum number of grants of one account. */
  grantsMax: 50,
  /** Time without use after which a client that has no grant is removed. */
  clientKeptMs: 60 * day,
  clientNameLengthMax: 100,
  redirectUrisMax: 10,
  stateLengthMax: 4096,

  // Limits of the tools that assistants call over MCP.
  /**
   * Maximum time for which a tool waits for a job. It must be shorter than 60 s, because MCP clients time out after 60
   * s.
   */
  toolWaitMs: 45 * second,
  /** Number of characters on one page of a transcript. A language model reads such a page as about 10,000 tokens. */
  toolPageCharacters: 30_000,
  toolItemsMax: 50,
  toolItemsDefault: 20,
  /** Age at which a mail file in the data folder is removed. Mails are written to files if no mail server is set. */
  mailKeptMs: 48 * hour,
  depositCentsMin: 500,
  firstCreditCents: 10_000,
  /** Number of money units in a cent. At a price of one cent an hour, one second costs one unit. */
  unitsPerCent: 3600,

  // Limits of the operator's page in the web app.
  hourMs: 1 * hour,
  /** Number of hours that the charts of the operator's page show. */
  shownHours: 24,
  /** Period for which the list of accounts on the operator's page shows totals. */
  shownAccountsMs: 30 * day,
  shownAccounts: 100,
  /** Maximum number of requests in the request log, which is in memory. */
  loggedRequests: 100,

  // Limits of a pair of servers, of which one serves and the other one waits.
  /**
   * The serving server renews its lease this many times within the timeout of the lease. The waiting server reads the
   * lease at the same interval.
   */
  standbyLooks: 10,
  /** Number of copies of the database that are kept in the shared folder of a server and its standby. Older ones go. */
  standbyCopies: 3,

  // Limits of the database.
  /**
   * SQLite's busy timeout for commands: the maximum time for which a command waits while the server writes to the
   * database.
   */
  databaseBusyMs: 10 * second,
  /**
   * SQLite's busy timeout for the server. It is short, because the server answers no request while it waits for the
   * database. A write to the database during an upload is retried for `databaseBusyMs`.
   */
  serverBusyMs: second / 4,
  busyRetryAfterMs: 1 * second,
  /** Time for which /v1/ready reuses the result of its last test write to the database. */
  readyEveryMs: 1 * second,

  // Limits of the checks of `steno doctor`.
  /** Number of bytes that `steno doctor` writes to measure the speed of the disk. */
  diskProbeBytes: 32 * MB,
  /**
   * Minimum speed of the disk, in bytes a second. On a slower disk, several uploads at a time would be limited by the
   * disk, so `steno doctor` reports a problem.
   */
  diskBytesPerSecondMin: 10 * MB,
  healthTimeoutMs: 5 * second,

  // Limits of the output of commands, and of the command `watch`.
  /** Interval at which a command retries a write to a full non-blocking pipe. */
  terminalRetryMs: 5,
  /** Interval at which the command `watch` reads the folder that it watches. */
  watchEveryMs: 2 * second,
  /** Minimum interval between two progress lines of a command whose stderr is not a terminal. */
  terminalReportEveryMs: 10 * second,

  // Limits of stored transcripts.
  /**
   * Maximum number of utterances that one transaction stores. A transcript of ten hours of speech has about 10,000
   * utterances.
   */
  storedUtterancesPerPiece: 100,
  /**
   * The server stores a long transcript in pieces, and each piece is one transaction. Each time that it has stored this
   * number of pieces, the server moves the write-ahead log into the database file.
   */
  storedPiecesPerDrain: 8,
  /**
   * Pause before each transaction that stores a part of a long transcript, so that the server can answer requests.
   */
  storePauseMs: 1,

  // Limits of search and edits.
  /**
   * Maximum size of the request body of an edit. The limit for other bodies is `bodyBytesMax`. With this larger limit,
   * an edit with a too long text reaches the validation, whose error names the field.
   */
  editBytesMax: 4 * MB,
  editedUtterancesMax: 1000,
  editedTextLengthMax: 10_000,
  speakerNameLengthMax: 80,
  /** Number of words after which the indexer ends a transaction that writes the search index. */
  indexedWordsPerPiece: 500,
  /** Maximum number of utterances that one transaction removes from the search index. */
  removedUtterancesPerPiece: 50,
  /** Maximum number of pages of the search index that one transaction of a merge writes. */
  mergedPagesPerPiece: 12,
  /** Pause between two transactions of the indexer. During this pause, the server can answer requests. */
  indexPauseMs: 5,
  /**
   * A turn of the indexer is one or two transactions. After this number of turns, the indexer moves the write-ahead log
   * into the database file. In ten turns, the write-ahead log grows to at most 4 MB. A larger log would be moved by
   * SQLite itself, which blocks the event loop.
   */
  indexTurnsPerDrain: 10,
  /**
   * Pause after a purge, which removes the words of deleted transcripts from the search index. The value is a multiple
   * of the time that the purge took.
   */
  purgePauseRatio: 4,
  searchPageSizeMax: 100,
  searchPageSizeDefault: 20,
  /**
   * Maximum number of words of a search query. A longer query finds nothing, because no utterance has so many words.
   */
  searchWordsMax: 200,
  /**
   * Number of utterances at which one part of the search index of an account is full. Newer transcripts then go into
   * another part. With this size, a merge of the index blocks the event loop for at most 6 ms.
   */
  searchPartUtterances: 65_536,
  /**
   * Maximum number of hits that a search in the order `best` ranks. If there are more hits, only the newest ones are
   * ranked. Ranking 1000 hits takes about 30 ms.
   */
  searchRankedMax: 1000,

  // Limits of drafts (files that are still being written) and of upgrades.
  /** Age at which a draft is removed. A draft of this age was left by a killed process. */
  draftKeptMs: 1 * hour,
  /** Timeout of the version check that `steno upgrade` runs on a downloaded program. */
  versionAnswerMs: 30 * second,

  // Limits of the engine.
  /**
   * The nice value (CPU priority) of an engine, and of the process that decodes media for the engine. The server has
   * the nice value 0, so that it gets the CPU first. A process that inspects a media file has the nice value 19. If it
   * had the value 10 too, three inspections of hostile files would halve the speed of every engine.
   */
  engineNice: 10,
  engineLoadMs: 10 * minute,
  /**
   * Maximum time between two messages of a busy engine. If an engine is silent for longer, it is killed. On a slow
   * machine, one pass of a large model over a batch takes half a minute.
   */
  engineStallMs: 5 * minute,
  /**
   * Interval of the check whether a busy engine process was stopped by a signal, such as SIGSTOP. A stopped process is
   * killed.
   */
  engineLookMs: 5 * second,
  /** Number of jobs after which an engine process is replaced, because libraries may leak memory. */
  engineJobsMax: 100,
  engineTriesMax: 2,
  /** First pause after a model failed to load. Further pauses grow exponentially up to `engineRetryMsMax`. */
  engineRetryMs: 5 * second,
  engineRetryMsMax: 5 * minute,
  /**
   * Interval of the progress reports of an engine. At each report, the engine also reads the messages of the server.
   */
  engineReportEveryMs: second / 4,
  /** Maximum number of utterances in one message of an engine process. */
  enginePartUtterances: 100,
  /**
   * Maximum memory in which the decoder keeps the keys and values of all windows of a batch: `cpu` for a model on a
   * CPU, `gpu` for a model on a GPU.
   */
  engineCacheBytes: { cpu: 0.75 * GB, gpu: 8 * GB },

  // Limits of enrolled voices.
  /** Maximum number of voices of one account. */
  voicesMax: 100,
  /** Maximum number of concurrent child processes that make voice prints. Further requests for voice prints wait. */
  voicePrintsMax: 2,
  /** Timeout of a child process that makes a voice print. */
  voicePrintMs: 5 * minute,

  /** Timeout of the child process that copies a model and converts its weights to the compact form (8-bit weights). */
  compactCopyMs: 30 * minute,

  // Limits of model files.
  /** The download of a model file fails after this many attempts in a row in which no byte arrives. */
  pullTriesMax: 5,
  /** Interval at which a process checks whether another process has finished downloading the same model. */
  pullWaitMs: 250,
  /** Maximum length of the header of a safetensors file. A file with a longer header is refused as damaged. */
  tensorHeaderBytesMax: 100 * MB,
  /**
   * Number of bytes of weights that a conversion reads between two runs of the garbage collector. This number limits
   * the memory of the conversion.
   */
  tensorGarbageBytesMax: 64 * MB,

  // Limits of workers on other machines.
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

  // Timeouts that apply while the server stops.
  /** Time for which running requests and deliveries may continue after SIGTERM. */
  stopGraceMs: 10 * second,
  /** After SIGTERM, an upload is aborted if no bytes arrive for this time. */
  stopIdleMs: 1 * second,
} as const

/**
 * The rate limits, in requests per minute. `ip` limits all requests from one IP address. The limits `service`,
 * `accounts.create`, `sessions.create` and the limits of OAuth are also counted per IP address. All other limits are
 * counted per API key. A client with an access token counts as one key. All sign-in sessions of an account together
 * count as one key. `events.open` is not a rate: it is the maximum number of event streams that a caller has open at
 * the same time.
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
