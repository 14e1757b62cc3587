// The limits of stored transcripts, of subtitle cues, of search and of edits.

import { MB } from './units.ts'

export const transcriptLimits = {
  // Limits and defaults of the subtitle cues in an export.
  cueWords: { default: 4, min: 1, max: 50 },
  cueChars: { default: 80, min: 10, max: 500 },
  cueSeconds: { default: 10, min: 1, max: 60 },
  stripCharsMax: 32,
  /** The minimum time for which a subtitle cue is shown, unless the next cue of the same speaker begins earlier. */
  cueVisibleMsMin: 100,

  // Limits of stored transcripts.
  /**
   * Maximum number of utterances that one transaction stores. The server answers requests between these transactions.
   * Ten hours of speech have about 10,000 utterances, or 100 transactions.
   */
  storedUtterancesPerPiece: 100,
  /**
   * Long transcripts are stored in several transactions. After this many of them, the server moves the write-ahead log
   * into the database file, so that the log stays small.
   */
  storedPiecesPerDrain: 8,
  /** Pause before each transaction with a part of a long transcript, so that the server can answer requests. */
  storePauseMs: 1,

  // Limits of search and edits.
  /**
   * Maximum size of the request body of an edit. It is larger than `bodyBytesMax`, so that a text that is too long
   * reaches the check of the fields. The error of this check names the field.
   */
  editBytesMax: 4 * MB,
  editedUtterancesMax: 1000,
  editedTextLengthMax: 10_000,
  /**
   * The maximum size of an edited transcript is `editedSizesMax` times the original size, plus `editedBytesMore`. The
   * size is that of the JSON of all utterances. With `editedBytesMore`, even a very short transcript can have one
   * utterance of the maximum length.
   */
  editedSizesMax: 3,
  editedBytesMore: 1 * MB,
  speakerNameLengthMax: 80,
  /** Number of words after which the indexer ends a transaction that writes the search index. */
  indexedWordsPerPiece: 500,
  /** Maximum number of utterances that one transaction removes from the search index. */
  removedUtterancesPerPiece: 50,
  /** Maximum number of database pages that one transaction writes while it merges segments of the search index. */
  mergedPagesPerPiece: 12,
  /** Pause between two transactions of the indexer. The server can answer requests during the pause. */
  indexPauseMs: 5,
  /**
   * A turn of the indexer is one or two transactions. After this many turns, the indexer moves the write-ahead log into
   * the database file without blocking the event loop (see `drainLog`). In ten turns, the log grows to at most 4 MB.
   * SQLite itself would move a larger log, and block the event loop for 20 to 40 ms.
   */
  indexTurnsPerDrain: 10,
  /** Pause after a purge of deleted transcripts from the search index, as a multiple of the duration of the purge. */
  purgePauseRatio: 4,
  searchPageSizeMax: 100,
  searchPageSizeDefault: 20,
  /**
   * A page of hits ends after the hit with which it becomes larger than this number of bytes. Most pages are smaller:
   * 100 utterances, each of half a minute, have about 1 MB together. But one edited utterance can have 0.5 MB, with
   * thousands of matches, so the maximum of 100 hits is not enough to limit the size of a page.
   */
  searchPageBytesMax: 2 * MB,
  /**
   * Estimated number of bytes of one match in the JSON of a hit. A hit is a found utterance, and each found phrase in
   * its text is a match. The size of a page of hits (see `searchPageBytesMax`) is computed with this estimate.
   */
  searchMatchBytes: 60,
  /**
   * Maximum number of words of all phrases of a search query together. A phrase that occurs twice counts once. A longer
   * query finds nothing.
   */
  searchWordsMax: 200,
  /**
   * A part of an account's search index that has this number of utterances is full: newer transcripts go into a new
   * part. With this size, a merge of the index blocks the event loop for at most 6 ms.
   */
  searchPartUtterances: 65_536,
  /**
   * A search in the order `best` ranks only the newest hits, at most this number of them. It does not return older
   * hits. Ranking 1000 hits takes about 30 ms.
   */
  searchRankedMax: 1000,
  /** Number of characters at the start of a hit in which the ranking counts the words of the query. */
  searchRankedCharacters: 1000,
} as const
