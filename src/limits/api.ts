// The limits of requests to the API, of the tools over MCP, and of the operator's page.

import { day, hour, KB, MB, minute, second } from './units.ts'

export const apiLimits = {
  // Limits of requests to the API.
  bodyBytesMax: 100 * KB,
  /** Interval at which the reading of a body, and other long work, lets the event loop handle other events. */
  breakEveryMs: 10,
  /** Maximum length of the boundary of a multipart form. Some senders use more than the 70 characters of RFC 2046. */
  formBoundaryLengthMax: 256,
  /** Maximum size of the headers of one part of a multipart form. */
  formHeadBytesMax: 16 * KB,
  /** Maximum number of bytes before the first part of a multipart form, and after its last part. */
  formAroundBytesMax: 64 * KB,
  /** Maximum number of fields of a URL-encoded form, such as a token request. */
  formFieldsMax: 100,
  /** Maximum size of all fields of a multipart form together, without its file. */
  formFieldsBytesMax: 100 * KB,
  /** Maximum size of a multipart form without its file: the fields, the boundaries and the headers of the parts. */
  formExtraBytesMax: 1 * MB,
  urlLengthMax: 2048,
  filenameLengthMax: 255,
  speakerCountMax: 50,
  /**
   * Maximum number of channels of a recording that are transcribed separately. Each channel takes as long as a whole
   * recording.
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
  /**
   * A reply to a request with an idempotency key is stored, and repeated requests get it again. This is the maximum
   * number of expired replies that one sweep (a periodic task) deletes. Deleting 1,000 replies takes about 16 ms.
   */
  purgedRepliesMax: 1000,
  rateWindowMs: 1 * minute,
  /**
   * Maximum number of counters that keep the access log short. Requests that no quota limits, such as refused requests,
   * could fill the log. Each sender and kind of request (method, route and status) has a counter, and only the first
   * request of a counter is logged. Every minute, the log gets the number of further requests of each counter, and all
   * counters are deleted. When there are this many counters, they stop counting. Until they are deleted, one counter
   * for each kind counts the requests of all senders. So a client with very many addresses does not fill the memory.
   */
  repeatsMax: 10_000,
  /**
   * Time after which the server sends keep-alive bytes in a response of the OpenAI-compatible endpoints that waits for
   * a job. Most proxies close a connection that is idle for a minute.
   */
  answerQuietMs: 30 * second,
  /** Interval of the keep-alive bytes of a response of the OpenAI-compatible endpoints. */
  answerBeatMs: 15 * second,
  /**
   * A transcript is a large response if its JSON has more than this number of bytes. An hour of speech has about 1 MB.
   */
  largeTranscriptBytes: 1 * MB,
  /**
   * A transcript is compressed if the client accepts compression, and if the JSON or text of the transcript has at
   * least this number of characters.
   */
  compressedCharactersMin: 16 * KB,
  /**
   * The server treats the response to an edit as a large response (see `largeAnswersMax`) if the request body has more
   * than this number of bytes. The response can be 60 times as large as the body, because it contains the times of the
   * words. The server needs this decision before the response exists.
   */
  largeEditBytes: 16 * KB,
  /** A page of jobs or search hits is a large response if its JSON has more than this number of characters. */
  largePageCharacters: 1 * MB,
  /**
   * Number of slots for large responses: the maximum number of them at the same time. A single account can use only a
   * part of the slots.
   */
  largeAnswersMax: 32,
  /**
   * A large response can be stopped after it has held its slot (see `largeAnswersMax`) for this time, if another
   * request waits for a slot. Clients that read very slowly could otherwise keep all slots. In this time, a client that
   * reads 350 KB a second gets a whole response of 10 MB, the transcript of ten hours of speech.
   */
  largeAnswerHeldMs: 30 * second,
  /**
   * While a request waits for a slot (see `largeAnswersMax`), the server checks at this interval whether another
   * response has held its slot for `largeAnswerHeldMs`. If so, the server stops that response, and its slot becomes
   * free.
   */
  largeAnswerCheckMs: 1 * second,
  /** Number of bytes of a large response that are sent at once. */
  answerPartBytes: 256 * KB,

  // Limits of the tools that assistants call over MCP.
  /** Maximum time for which a tool waits for a job. MCP clients have a timeout of 60 s. */
  toolWaitMs: 45 * second,
  /**
   * Maximum time for which the idle timeout of a connection is paused while a tool responds. A tool waits for a job for
   * at most `toolWaitMs`, which is shorter. So the idle timeout cannot close the connection during this wait. Later, it
   * closes the connection if the client does not read the response.
   */
  toolAnswerMs: 1 * minute,
  /** Number of characters on one page of a transcript. A language model reads such a page as about 10,000 tokens. */
  toolPageCharacters: 30_000,
  toolItemsMax: 50,
  toolItemsDefault: 20,

  // Limits of the operator's page in the web app.
  hourMs: 1 * hour,
  /** Number of hours in the charts of the operator's page. */
  shownHours: 24,
  /** Period of the totals in the list of accounts on the operator's page. The period ends now. */
  shownAccountsMs: 30 * day,
  shownAccounts: 100,
  /**
   * Maximum number of jobs that are summed up in one turn of the event loop. Summing up 2,000 jobs takes about 2 ms.
   */
  summedJobsPerTurn: 2000,
  /**
   * If reading the operator's statistics took T ms, the result is reused for this number times T ms. Frequent requests
   * then take only a small part of the server's time.
   */
  statisticsReusedRatio: 20,
  /** Maximum number of requests in the request log, which is in memory. */
  loggedRequests: 100,
} as const
