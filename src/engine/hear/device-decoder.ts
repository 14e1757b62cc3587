// Whisper's decoder on a GPU. A run of its ONNX graph is prepared once: its inputs and outputs get fixed memory, so it
// can be started many times. The decoder keeps its caches, and the runs of its decoding steps, so that the next batch
// can use them again.

import { cacheNames } from '../network/float-caches.ts'
import { elements, elementsIn } from '../onnx/elements.ts'
import { DeviceBatch, powerOfTwo, type Runs } from './device-batch.ts'
import { type CacheSessions, DeviceCaches, type DeviceParts, rowDimsOf } from './device-caches.ts'
import { DecoderRun, notRecorded } from './device-run.ts'
import type { Batch, Decoder, EncodedWindow, Greedy } from './network.ts'

export class DeviceDecoder implements Decoder {
  /** The memory in bytes that each window of a batch needs: the encoded window, and its row in the caches. */
  readonly windowBytes: number
  private caches: DeviceCaches | null = null
  private readonly steps = new Map<string, DecoderRun>()
  /**
   * The number of times that the caches were allocated. A run that CUDA recorded contains the addresses of the caches,
   * and must not be replayed after a new allocation. The id of a recorded run therefore contains this number.
   */
  private allocations = 0
  private isBusy = false

  constructor(
    private readonly parts: DeviceParts,
    private readonly sessions: CacheSessions,
  ) {
    const { own, cross } = cacheNames(parts.size)
    const bytesOf = (names: readonly string[]) =>
      names.reduce((sum, name) => sum + elementsIn(rowDimsOf(name, parts)), 0) * elements[parts.type].bytes
    this.windowBytes = 2 * bytesOf(cross) + bytesOf(own)
  }

  begin(windows: readonly EncodedWindow[], prompt: readonly number[], greedy: Greedy | null = null): Batch {
    if (this.isBusy) throw new Error('a batch of this decoder is still running')
    const caches = this.cachesFor(windows.length)
    for (const [row, { tensors }] of windows.entries()) caches.write(row, tensors)
    this.isBusy = true
    const runs: Runs = {
      once: shape => new DecoderRun(this.parts, caches, { ...shape, record: notRecorded }),
      step: (rows, withScores) => this.stepOf(caches, rows, withScores),
      end: () => {
        this.isBusy = false
      },
    }
    return new DeviceBatch(this.parts, caches, runs, { rows: windows.length, prompt, greedy })
  }

  close(): void {
    for (const run of this.steps.values()) run.close()
    this.steps.clear()
    this.caches?.close()
    this.caches = null
  }

  /**
   * Returns the decoder's caches, which have at least `rows` rows: one for each window. If the present caches have
   * fewer rows, allocates larger caches first.
   */
  private cachesFor(rows: number): DeviceCaches {
    if (this.caches && this.caches.capacity >= rows) return this.caches
    this.close()
    this.caches = new DeviceCaches(this.parts, this.sessions, powerOfTwo(rows))
    this.allocations++
    return this.caches
  }

  /**
   * Returns the prepared run of the decoder for one decoding step. Its inputs and outputs have fixed memory, so it can
   * be started for each step. Each start adds one token to each of the `rows` rows (the windows of the batch). When
   * larger caches are allocated, a new run is prepared, because the old run refers to the memory of the old caches.
   */
  private stepOf(caches: DeviceCaches, rows: number, withScores: boolean): DecoderRun {
    const key = `${rows} ${withScores}`
    const record = withScores ? notRecorded : this.allocations * recordsMax + rows
    const shape = { rows, length: 1, wanted: [0], withScores, record }
    const run = this.steps.get(key) ?? new DecoderRun(this.parts, caches, shape)
    this.steps.set(key, run)
    return run
  }
}

/**
 * A number above the number of windows that any run decodes. CUDA records a run under an id, to replay the run later. A
 * recording contains the addresses of the decoder's caches, so it is invalid after a new allocation of the caches. The
 * id is `allocations` (how often the caches were allocated) × `recordsMax` + the number of windows. So no two recorded
 * runs have the same id.
 */
const recordsMax = 1024
