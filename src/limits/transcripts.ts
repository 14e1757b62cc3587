// The limits of stored transcripts, of subtitle cues, of search and of edits.

import { MB } from './units.ts'

export const transcriptLimits = {
  // Limits and defaults of the subtitle cues in an export.
  cueWords: { default: 4, min: 1, max: 50 },
  cueChars: { default: 80, min: 10, max: 500 },
  cueSeconds: { default: 10, min: 1, max: 60 },
  stripCharsMax: 32,
  /** Time for which a cue of zero length is shown, unless the next cue of the same speaker begins earlier. */
  cueVisibleMsMin: 100,

  // Limits of stored transcripts.
  /**
   * Maximum number of utterances that one transaction stores. Ten hours of speech have about 10,000 utterances, so they
   * are stored in about 100 transactions. Between these transactions, the server can answer requests.
   */
  storedUtterancesPerPiece: 100,
  /**
   * The utterances of a long transcript are stored in several transactions. Each time this number of transactions has
   * run, the server moves the write-ahead log into the database file.
   */
  storedPiecesPerDrain: 8,
  /** Pause before each transaction with a part of a long transcript, so that the server can answer requests. */
  storePauseMs: 1,

  // Limits of search and edits.
  /**
   * Maximum size of the request body of an edit. This limit is larger than `bodyBytesMax`, so that a body with a text
   * that is too long reaches the check of the fields, whose error names the field of this text.
   */
  editBytesMax: 4 * MB,
  editedUtterancesMax: 1000,
  editedTextLengthMax: 10_000,
  /**
   * The maximum size of an edited transcript is `editedSizesMax` times the size of the original transcript, plus
   * `editedBytesMore`. The size is that of the JSON of all utterances, without the names of the speakers. One utterance
   * with a text of the maximum length has up to about `editedBytesMore` bytes.
   */
  editedSizesMax: 3,
  editedBytesMore: 1 * MB,
  speakerNameLengthMax: 80,
  /** Number of words after which the indexer ends a transaction that writes the search index. */
  indexedWordsPerPiece: 500,
  /** Maximum number of utterances that one transaction removes from the search index. */
  removedUtterancesPerPiece: 50,
  /**
   * Maximum number of pages of the search index that one transaction writes while SQLite merges segments of the index.
   */
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
   * Pause after a purge that removed deleted transcripts from the search index, as a multiple of the duration of the
   * purge.
   */
  purgePauseRatio: 4,
  searchPageSizeMax: 100,
  searchPageSizeDefault: 20,
  /** Maximum number of words in a search query. A longer query finds nothing. */
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
  /** Number of characters at the start of a hit in which the ranking counts the words of the query. */
  searchRankedCharacters: 1000,
} as const
