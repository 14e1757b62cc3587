// Finds the windows of a recording while its media file is being read. Speech spans are joined into windows of at most
// 30 s of sound. Windows are grouped into blocks, and a block is decoded as one batch.

import { sampleRate, windowSamples } from '../audio.ts'
import { levelled } from './level.ts'
import { withOverlooked } from './overlooked.ts'
import { Packer } from './packer.ts'
import type { Recording } from './recording.ts'
import { type SpeechSpan, SpeechSpans } from './speech-spans.ts'
import { chunkSamples, type Vad } from './vad.ts'
import type { Window } from './windows.ts'

/** A window needs at most this number of samples before its first speech. Earlier sound can be removed from memory. */
const margin = 0.5 * sampleRate
/**
 * The maximum number of samples that are kept in memory while the windows of a block are collected: half an hour, or
 * 115 MB. Above this number, the block is decoded with fewer windows than usual. This happens only if speech is rare.
 * With more speech, a block is complete earlier.
 */
const keptMax = 1800 * sampleRate

type BlockOptions = {
  rows: number
  isOneOfChannels?: boolean
  onSamples?: (done: number) => Promise<void>
}

/**
 * Yields blocks of at most `rows` windows. A window has at most 30 s of sound, and a block is decoded as one batch.
 * Removes sound from memory when no later block needs it. `onSamples` gets the number of processed samples.
 * `isOneOfChannels` is true if the sound is one channel of a recording with several channels.
 */
export async function* findBlocks(
  vad: Vad,
  sound: AsyncIterable<Float32Array>,
  recording: Recording,
  { rows, isOneOfChannels = false, onSamples = async () => {} }: BlockOptions,
): AsyncGenerator<Window[]> {
  // In one of several channels, quiet speech after loud speech usually comes from the speaker of another channel. It
  // must not be found in this channel too, so `plainSpeech` is used, which does not find it.
  const findSpeech = isOneOfChannels ? plainSpeech(vad) : allSpeech(vad)
  const block: Window[] = []
  for await (const { windows, needed } of findWindows(findSpeech, sound, recording)) {
    for (const window of windows) {
      block.push(window)
      if (block.length === rows) yield block.splice(0)
    }
    if (block[0] && recording.length - block[0].from > keptMax) yield block.splice(0)
    const first = Math.max(0, block[0]?.from ?? needed)
    recording.forget(first)
    await onSamples(first)
  }
  if (block.length > 0) yield block
}

/**
 * Reads the sound in chunks. After each chunk, yields two values. `windows` are the windows that are now complete.
 * `needed` is the number of the first sample that later windows may need. The caller can remove earlier samples from
 * memory, except those of windows that still wait to be decoded.
 */
async function* findWindows(
  probabilitiesOf: (chunk: Float32Array) => Float32Array,
  sound: AsyncIterable<Float32Array>,
  recording: Recording,
): AsyncGenerator<{ windows: Window[]; needed: number }> {
  const spans = new SpeechSpans(windowSamples)
  const packer = new Packer()
  const pack = (found: readonly SpeechSpan[]) => found.flatMap(span => packer.add(span))
  const needed = () => Math.min(packer.pending ?? Number.POSITIVE_INFINITY, spans.settled) - margin
  for await (const chunk of chunksOf(sound, chunkSamples)) {
    recording.add(chunk)
    const windows = pack(spans.push(probabilitiesOf(chunk)))
    yield { windows: [...windows, ...packer.settle(spans.settled)], needed: needed() }
  }
  yield { windows: [...pack(spans.end(recording.length)), ...packer.end()], needed: recording.length }
}

/** Returns a function that finds the probability of speech in each frame of the next chunk. */
function plainSpeech(vad: Vad): (chunk: Float32Array) => Float32Array {
  const speechIn = vad.start()
  return chunk => speechIn(levelled(chunk))
}

/**
 * Returns a function that finds the probability of speech in each frame of the next chunk. Unlike `plainSpeech`, also
 * finds quiet speech after loud speech, and speech over music.
 */
function allSpeech(vad: Vad): (chunk: Float32Array) => Float32Array {
  const speechIn = plainSpeech(vad)
  return chunk => withOverlooked(vad, chunk, speechIn(chunk))
}

/** Yields the samples of `sound` in chunks of `size` samples. The last chunk may be shorter. */
async function* chunksOf(sound: AsyncIterable<Float32Array>, size: number): AsyncGenerator<Float32Array> {
  let chunk = new Float32Array(size)
  let filled = 0
  for await (const part of sound) {
    for (let at = 0; at < part.length; ) {
      const count = Math.min(size - filled, part.length - at)
      chunk.set(part.subarray(at, at + count), filled)
      filled += count
      at += count
      if (filled < size) continue
      yield chunk
      chunk = new Float32Array(size)
      filled = 0
    }
  }
  if (filled > 0) yield chunk.slice(0, filled)
}
