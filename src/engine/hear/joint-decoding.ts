// Decodes windows (at most 30 s of sound each) of several recordings in one batch. Each decoding step reads all weights
// of the decoder once, for one window or for many. Several short recordings therefore need less CPU time in one batch
// than in separate batches. The text of a recording does not depend on the other recordings of the batch.

import { windowFrames } from '../audio.ts'
import { rowsWith } from './batch-rows.ts'
import { type Attempt, decodeRows, type RecogniseOptions, type Task } from './decode-rows.ts'
import { type Odds, oddsIn } from './language.ts'
import type { EncodedWindow, Network } from './network.ts'
import type { Whisper } from './whisper.ts'

/** The windows of one recording that wait for decoding. A window is at most 30 s of sound. */
type Request = {
  tasks: readonly Task[]
  temperature: number
  options: RecogniseOptions
  resolve(attempts: Attempt[]): void
  reject(error: unknown): void
}

/** The windows of one recording that wait for language detection. A window is at most 30 s of sound. */
type Detection = {
  whisper: Whisper
  encoded: readonly EncodedWindow[]
  resolve(odds: Odds[]): void
  reject(error: unknown): void
}

type BatchOptions = Pick<Network, 'hasFullRows'>

export class JointDecoding {
  /** The number of recordings that are being transcribed at the same time. */
  private recordings = 0
  private waiting: Request[] = []
  private detecting: Detection[] = []
  /** Resolves when the last `work` passed to `alone` has ended. */
  private last: Promise<unknown> = Promise.resolve()

  /**
   * `rows` is the maximum number of windows that one recording passes to `decode`. A batch of several recordings may
   * have more windows (see `memoryShare`).
   */
  constructor(
    private readonly rows: number,
    private readonly options: BatchOptions = { hasFullRows: false },
  ) {}

  /**
   * Registers a recording. No windows are decoded until every registered recording waits for `decode` or `detect`. The
   * windows of all recordings can then be decoded in one batch. Call the returned function when the transcription of
   * the recording ends. Otherwise the other recordings would wait without end.
   */
  enter(): () => void {
    this.recordings++
    return () => {
      this.recordings--
      this.runIfAllWait()
    }
  }

  /**
   * Decodes windows of one recording, if possible in one batch with windows of the other recordings that are being
   * transcribed.
   */
  decode(tasks: readonly Task[], temperature: number, options: RecogniseOptions): Promise<Attempt[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Attempt[]>()
    this.waiting.push({ tasks, temperature, options, resolve, reject })
    this.runIfAllWait()
    return promise
  }

  /** Computes the probability of each language in each window of one recording. */
  detect(whisper: Whisper, encoded: readonly EncodedWindow[]): Promise<Odds[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Odds[]>()
    this.detecting.push({ whisper, encoded, resolve, reject })
    this.runIfAllWait()
    return promise
  }

  /** Calls `work` after the end of all earlier work. A decoder on a GPU cannot run two batches at the same time. */
  alone<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = this.last.then(work)
    this.last = result.catch(() => {})
    return result
  }

  /**
   * Runs the waiting requests when every registered recording waits. If some recordings wait for language detection,
   * only the detections are run. These recordings wait for `decode` next, so that the texts of all recordings can be
   * decoded in one batch.
   */
  private runIfAllWait(): void {
    if (this.waiting.length + this.detecting.length < this.recordings) return
    if (this.detecting.length > 0) {
      for (const group of detectionGroups(this.detecting.splice(0), this.rows))
        void this.alone(() => detectGroup(group))
      return
    }
    const alike = Map.groupBy(this.waiting.splice(0), keyOf)
    for (const requests of alike.values())
      for (const batch of batchesOf(requests, this.rows, this.options))
        void this.alone(() => decodeBatch(batch))
  }
}

/** Returns a key. One batch can decode the windows of several requests only if the requests have the same key. */
function keyOf({ temperature, options: { prompt, promptAgain } }: Request): string {
  return `${temperature}: ${prompt}; ${promptAgain}`
}

/**
 * The maximum memory of a batch with windows of several recordings, divided by the memory of `rows` windows of 30 s. If
 * this number were 1, a recording with `rows` windows of 30 s could not share a batch with other recordings. Used only
 * if `hasFullRows` is false. Each row then needs the memory of the longest window in the batch, so a batch of short
 * windows may have more than `rows` rows. If `hasFullRows` is true, a batch of several recordings has at most `rows`
 * rows.
 */
const memoryShare = 1.5

/**
 * Divides requests into batches. Each window of a request becomes a row of a batch. A request that is too large for a
 * batch with other requests becomes a batch of its own.
 */
function batchesOf(
  requests: readonly Request[],
  rows: number,
  { hasFullRows }: BatchOptions,
): [Request, ...Request[]][] {
  const batches: [Request, ...Request[]][] = []
  let filled = 0
  // Windows of similar length share a batch, because each row may need the memory of the longest window of the batch.
  for (const request of requests.toSorted((one, other) => longestIn(one) - longestIn(other))) {
    const last = batches.at(-1)
    const together = filled + request.tasks.length
    // With `hasFullRows`, each row needs the memory of a window of 30 s, so only the number of rows counts.
    const isSmall = hasFullRows
      ? together <= rows
      : together * longestIn(request) <= memoryShare * rows * windowFrames
    if (last && isSmall && together <= rowsWith(together, request.options.prompt)) {
      last.push(request)
      filled = together
    } else {
      batches.push([request])
      filled = request.tasks.length
    }
  }
  return batches
}

/** Returns the length of the longest window of a request, in model frames (20 ms each). */
function longestIn({ tasks }: Request): number {
  return Math.max(...tasks.map(({ row }) => row.frames))
}

async function decodeBatch(batch: readonly [Request, ...Request[]]): Promise<void> {
  const [{ temperature, options }] = batch
  const tasks = batch.flatMap(request => request.tasks)
  const onShare = async (share: number) => {
    for (const request of batch) await request.options.onShare(share)
  }
  try {
    const attempts = await decodeRows(tasks, temperature, { ...options, onShare })
    for (const { tasks, resolve } of batch) resolve(attempts.splice(0, tasks.length))
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}

/** Divides requests into groups of at most `rows` windows. A request with more windows is a group of its own. */
function detectionGroups(requests: readonly Detection[], rows: number): [Detection, ...Detection[]][] {
  const groups: [Detection, ...Detection[]][] = []
  let filled = 0
  for (const request of requests) {
    const last = groups.at(-1)
    filled += request.encoded.length
    if (last && filled <= rows) last.push(request)
    else {
      groups.push([request])
      filled = request.encoded.length
    }
  }
  return groups
}

function detectGroup(group: readonly [Detection, ...Detection[]]): void {
  const [{ whisper }] = group
  const windows = group.flatMap(({ encoded }) => encoded)
  try {
    const odds = oddsIn(whisper, windows)
    for (const { encoded, resolve } of group) resolve(odds.splice(0, encoded.length))
  } catch (error) {
    for (const { reject } of group) reject(error)
  }
}
