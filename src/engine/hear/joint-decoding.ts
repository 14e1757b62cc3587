// Decodes windows of several recordings in one batch. A decoding step reads all weights of the decoder, however many
// windows the batch has. So short recordings, which have one window each, need less CPU time if they are decoded
// together. The text of a recording does not depend on the other recordings of the batch.

import { windowFrames } from '../audio.ts'
import { rowsWith } from './batch-rows.ts'
import { type Attempt, decodeRows, type RecogniseOptions, type Task } from './decode-rows.ts'
import { type Odds, oddsIn } from './language.ts'
import type { EncodedWindow, Network } from './network.ts'
import type { Whisper } from './whisper.ts'

/** The windows of one recording that wait until they are decoded. */
type Request = {
  tasks: readonly Task[]
  temperature: number
  options: RecogniseOptions
  resolve(attempts: Attempt[]): void
  reject(error: unknown): void
}

/** The windows of one recording that wait until the language of each of them is detected. */
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
  /** A promise that is resolved when the last work that `alone` got has ended. The next work starts then. */
  private last: Promise<unknown> = Promise.resolve()

  /**
   * `rows` is the maximum number of windows that one recording passes to `decode` at a time. A batch of several
   * recordings may have more windows (see `memoryShare`). For `hasFullRows`, see `Network`.
   */
  constructor(
    private readonly rows: number,
    private readonly options: BatchOptions = { hasFullRows: false },
  ) {}

  /**
   * Registers a recording whose windows are decoded together with the windows of other recordings. No windows are
   * decoded until every registered recording waits for the result of `decode` or `detect`. Call the returned function
   * at the end of this recording, so that the other recordings no longer wait for its windows.
   */
  enter(): () => void {
    this.recordings++
    return () => {
      this.recordings--
      this.runIfAllWait()
    }
  }

  /**
   * Decodes windows of one recording, together with windows of other recordings that are transcribed at the same time.
   * See `decodeRows`.
   */
  decode(tasks: readonly Task[], temperature: number, options: RecogniseOptions): Promise<Attempt[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Attempt[]>()
    this.waiting.push({ tasks, temperature, options, resolve, reject })
    this.runIfAllWait()
    return promise
  }

  /** Computes the probabilities of the languages in windows of one recording. See `oddsIn`. */
  detect(whisper: Whisper, encoded: readonly EncodedWindow[]): Promise<Odds[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Odds[]>()
    this.detecting.push({ whisper, encoded, resolve, reject })
    this.runIfAllWait()
    return promise
  }

  /**
   * Calls `work` after the work of all earlier calls has ended. The decoder runs only inside such work, because a
   * decoder on a GPU cannot run two batches at the same time.
   */
  alone<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = this.last.then(work)
    this.last = result.catch(() => {})
    return result
  }

  /**
   * Runs the waiting requests if every registered recording has a waiting request. Otherwise does nothing. A request
   * comes from `detect`, which asks for languages, or from `decode`, which asks for texts. If requests of both kinds
   * wait, only the languages are detected now, and the requests for texts continue to wait. A recording calls `decode`
   * after its languages are detected. The windows of all recordings can then be decoded in the same batches.
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

/** Returns a key that is equal for two requests if one batch can decode the windows of both. */
function keyOf({ temperature, options: { prompt, promptAgain } }: Request): string {
  return `${temperature}: ${prompt}; ${promptAgain}`
}

/**
 * Limits the memory of a batch with windows of several recordings. The number of windows, times the length of the
 * longest window, is at most `memoryShare` × `rows` × 30 s. Used only for a network in which each row needs the memory
 * of the longest window of the batch.
 */
const memoryShare = 1.5

/**
 * Divides requests into batches. A request has one or more windows, and each window becomes a row of a batch. In a
 * network in the compact form, each row needs the memory of the longest window of the batch. So a batch gets requests
 * with windows of similar length. `memoryShare` limits this memory. In other networks, each row needs the memory of a
 * full window, so a batch has at most `rows` windows. The tokens of the prompt need memory in each row too, so a batch
 * with a long prompt has fewer windows. A request that is too large by itself becomes a batch of its own.
 */
function batchesOf(
  requests: readonly Request[],
  rows: number,
  { hasFullRows }: BatchOptions,
): [Request, ...Request[]][] {
  const batches: [Request, ...Request[]][] = []
  let filled = 0
  for (const request of requests.toSorted((one, other) => longestIn(one) - longestIn(other))) {
    const last = batches.at(-1)
    const together = filled + request.tasks.length
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

/** Divides requests into groups with at most `rows` windows. A request with more windows is a group of its own. */
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
