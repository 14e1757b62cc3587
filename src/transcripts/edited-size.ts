// Limits the size of an edited transcript. An edit contains only texts, but the transcript stores each word again with
// its times, in about 65 bytes. A text with words of one letter therefore takes about 30 times as many bytes as in the
// edit. Without this limit, a few edits could make a transcript of hundreds of megabytes.

import type { Db } from '../db/db.ts'
import { MB } from '../limits/units.ts'
import { limits } from '../limits.ts'
import { invalid } from './rename-speakers.ts'
import type { Utterance } from './transcript.ts'
import { type IndexedJob, rowsOf } from './utterance-id.ts'

/**
 * The size of the utterances of a transcript in bytes of JSON, and its maximum. Speaker names do not count towards the
 * size. Each word repeats the name of its speaker, so a long name would use up much of the maximum.
 */
export class EditedSize {
  #bytes: number
  readonly #bytesMax: number
  readonly #countNames: () => number
  #names: number | null = null

  constructor(db: Db, job: IndexedJob) {
    this.#countNames = () => countNames(db, job)
    const { bytes, original } = db.find<{ bytes: number; original: number }>(
      `select coalesce(sum(octet_length(body)), 0) as bytes,
         coalesce(sum(octet_length(coalesce(original, body))), 0) as original
       from utterances where id between $first and $last`,
      rowsOf(job),
    )!
    this.#bytes = bytes
    this.#bytesMax = original * limits.editedSizesMax + limits.editedBytesMore
  }

  /**
   * Counts the change of the utterance at `position` in the request. Throws an ApiError if the transcript becomes
   * larger than the maximum. A change that adds no bytes is always allowed.
   */
  count(position: number, before: Utterance, after: Utterance): void {
    const growth = bytesOf(after) - bytesOf(before)
    this.#bytes += growth
    if (growth <= 0 || this.#bytes <= this.#bytesMax) return
    this.#names ??= this.#countNames()
    if (this.#bytes - this.#names <= this.#bytesMax) return
    const { editedSizesMax, editedBytesMore } = limits
    throw invalid(
      `utterances[${position}].text makes the transcript too large: an edited transcript is at most ` +
        `${editedSizesMax} times as large as the original one, plus ${editedBytesMore / MB} MB.`,
    )
  }
}

/**
 * Returns the number of bytes that speaker names take in the utterances. An utterance and each of its words contain the
 * speaker name, after the key `speaker`. So for each utterance, the bytes of the name are multiplied by the number of
 * these keys. This query is slow: it takes about ten times as long as the query of the constructor, which adds up the
 * sizes of the utterances.
 */
function countNames(db: Db, job: IndexedJob): number {
  const { bytes } = db.find<{ bytes: number }>(
    `select coalesce(sum((octet_length(body) - octet_length(replace(body, $key, ''))) / octet_length($key)
         * octet_length(json_quote(body ->> '$.speaker'))), 0) as bytes
     from utterances where id between $first and $last`,
    { key: '"speaker":', ...rowsOf(job) },
  )!
  return bytes
}

function bytesOf(utterance: Utterance): number {
  return Buffer.byteLength(JSON.stringify(utterance))
}
