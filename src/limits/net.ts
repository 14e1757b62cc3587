// The limits of requests to other machines, and of downloads.

import { KB, second } from './units.ts'

export const netLimits = {
  // Limits of outgoing requests: downloads and webhooks.
  /** Timeout of the DNS look-up, the connection and the TLS handshake together. It starts again at each redirect. */
  connectTimeoutMs: 15 * second,
  /** Timeout of a DNS look-up, including all its attempts. */
  resolveTimeoutMs: 5 * second,
  /** Timeout of one attempt of a DNS look-up at one name server. */
  resolveTryMs: 2 * second,
  resolveTriesMax: 2,
  /** Maximum number of concurrent DNS look-ups of all accounts. A single account can use only a part of it. */
  resolvesMax: 512,
  /** Time for which the server remembers that no address was found for a host name. */
  unknownNameMs: 30 * second,
  unknownNamesMax: 10_000,
  /**
   * If a connection is not open after this time, a connection to the next IP address of the host is started in
   * parallel.
   */
  connectNextAfterMs: 300,
  connectAddressesMax: 8,
  /** Maximum time from the start of sending a request to the arrival of the response headers. */
  answerTimeoutMs: 60 * second,
  answerHeaderBytesMax: 64 * KB,
  /** Maximum number of interim responses (1xx) before the response. */
  interimAnswersMax: 20,

  // Limits of downloads.
  /** A download attempt fails if fewer than `downloadStallBytesMin` bytes arrive within `downloadStallMs`. */
  downloadStallMs: 60 * second,
  downloadStallBytesMin: 16 * KB,
  /** Minimum average rate of a download, in bytes a second. The rate is first checked after `downloadRateAfterMs`. */
  downloadRateBytesMin: 16 * KB,
  downloadRateAfterMs: 60 * second,
  /**
   * A download fails after this many attempts in a row that each add fewer than `downloadFurtherBytes` bytes to the
   * file. An attempt with a compressed body counts as an attempt that adds nothing, because it cannot resume: it
   * decodes the body from the first byte again.
   */
  downloadTriesMax: 5,
  downloadFurtherBytes: 1024 * KB,
  /**
   * Pause before the next attempt of an interrupted download. Each consecutive attempt that adds fewer than
   * `downloadFurtherBytes` bytes to the file doubles the pause.
   */
  downloadRetryPauseMs: 1 * second,
  /** Maximum number of compressions of the body of a response, one inside the other. */
  contentCodingsMax: 4,
  /**
   * A response body may be compressed several times, and is then decoded several times. The maximum size of compressed
   * data is the size of the largest allowed file times `compressedRatioMax`, plus `compressedBytesMore`. This maximum
   * applies to the body, and to the result of a decoding if this result is itself compressed. The maximum is more than
   * the size of the file, because compression makes some files slightly larger.
   */
  compressedRatioMax: 1.01,
  compressedBytesMore: 64 * KB,
  /** Number of bytes at the start of a download by which the server recognises a web page. */
  sniffBytes: 512,
  /** Number of bytes at the start of a downloaded web page in which the server searches for a sign-in form. */
  pageBytesMax: 64 * KB,
} as const
