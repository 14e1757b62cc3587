// The way from sound to text: decode → findSpeech → pack → recognise → align → assemble, block by block, so that
// ten hours need no more memory than ten minutes.

import { JobFailure } from '../errors.ts'
import { spokenAs } from '../languages.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import { assemble, type Said } from './assemble.ts'
import { samplesPerFrame, seconds, windowFrames, windowSamples } from './audio.ts'
import { type Decoder, makeDecoder } from './hear/decoder.ts'
import { type Features, openFeatures } from './hear/features.ts'
import { detect } from './hear/language.ts'
import { missedSpeech } from './hear/missed.ts'
import { placeInRecording } from './hear/place.ts'
import { type Row, recognise, type Spoken } from './hear/recognise.ts'
import { Segments } from './hear/segments.ts'
import { chunkSamples, openVad, type Vad } from './hear/vad.ts'
import { type Encoder, makeEncoder, type Whisper } from './hear/whisper.ts'
import { Packer, Recording, soundOf, type Window } from './hear/windows.ts'
import type { Runtime } from './onnx/runtime.ts'
import type { TranscribeInput } from './protocol.ts'
import { Diarization } from './who/diarize.ts'
import type { Voices } from './who/voices.ts'

export type Room = {
  whisper: Whisper
  vad: Vad
  features: Features
  encoder: Encoder
  decoder: Decoder
  /** Also tells where each token was read from. */
  attendingDecoder: Decoder
  /** What tells voices apart, or why there is nothing that does. */
  voices: Voices | { problem: string }
  /** Windows at once. */
  rows: number
}

export type Listener = {
  /** Samples of sound that are done with. */
  onSamples(done: number): Promise<void>
  onWarning(event: string, fields: Record<string, string | number>): void
}

/** All that stays loaded between jobs. */
export function openRoom(
  runtime: Runtime,
  whisper: Whisper,
  vadModel: Uint8Array,
  voices: Room['voices'],
): Room {
  return {
    whisper,
    vad: openVad(runtime, vadModel),
    features: openFeatures(runtime, whisper.facts.mels),
    encoder: makeEncoder(runtime, whisper),
    decoder: makeDecoder(runtime, whisper, false),
    attendingDecoder: makeDecoder(runtime, whisper, true),
    voices,
    rows: rowsFor(whisper),
  }
}

/** As many windows at once as help, within the memory that their cache may take. */
function rowsFor({ facts, device }: Whisper): number {
  const cacheBytes = 2 * facts.layers * facts.width * 4 * (windowSamples / samplesPerFrame)
  const budget = (device === 'cpu' ? 0.75 : 8) * 1024 ** 3
  return Math.max(1, Math.min(16, Math.floor(budget / cacheBytes)))
}

export async function transcribe(
  room: Room,
  sound: AsyncIterable<Float32Array>,
  input: TranscribeInput,
  listener: Listener,
): Promise<Transcript> {
  const known = new Set(room.whisper.facts.languages.keys())
  let language = input.language
  if (language !== null) checkLanguage(language, known)

  const diarization = input.diarize ? beginDiarization(room) : null
  const said: Said[] = []
  const recording = new Recording()
  let block: Window[] = []
  const work = async () => {
    const windows = block
    block = []
    if (windows.length === 0) return
    const getOn = progressWithin(windows, listener)
    const states = await encodeAll(room, windows, recording, share => getOn(share / 2))
    language ??= detect(room, states, windows)
    const order = { language, align: input.align, onShare: (share: number) => getOn((1 + share) / 2) }
    const spoken = await recogniseBlock(room, states, windows, order)
    const heard = windows.map((window, index) =>
      placeInRecording(room.whisper, window, spoken[index]!, order.language, input.align),
    )
    const missed = windows.flatMap((window, index) =>
      spoken[index]!.verdict === 'silence' ? [] : missedSpeech(window, heard[index]!),
    )
    const found = await hearAgain(room, missed, recording, order, listener)
    // Sound, pictures and attention of a block are tens of megabytes outside the collector's sight.
    Bun.gc(true)
    said.push(...[...heard, ...found].flat().toSorted((one, other) => one.from - other.from))
    for (const [index, each] of spoken.entries()) {
      const second = Math.round(seconds(windows[index]!.pieces[0]!.from))
      if (each.verdict === 'doubtful') listener.onWarning('doubts what it heard', { second })
    }
  }

  for await (const { windows, needed } of findWindows(room, heardBy(diarization, sound), recording)) {
    for (const window of windows) {
      block.push(window)
      if (block.length === room.rows) await work()
    }
    recording.forget(block[0]?.pieces[0]?.from ?? needed)
  }
  await work()
  await listener.onSamples(recording.length)
  return assemble(said, {
    language: language ?? 'en',
    samples: recording.length,
    align: input.align,
    turns: diarization?.finish(input.speakerCount).exclusive ?? null,
  })
}

function beginDiarization({ voices }: Room): Diarization {
  if ('problem' in voices) throw new JobFailure('PROCESSING_ERROR', voices.problem)
  return new Diarization(voices)
}

async function* heardBy(
  diarization: Diarization | null,
  sound: AsyncIterable<Float32Array>,
): AsyncGenerator<Float32Array> {
  for await (const part of sound) {
    diarization?.add(part)
    yield part
  }
}

function checkLanguage(language: string, known: ReadonlySet<string>): void {
  if (known.size === 0 ? language !== 'en' : spokenAs(language, known) === null) {
    throw new JobFailure(
      'PROCESSING_ERROR',
      `The model that serves here does not know the language ${language}.`,
    )
  }
}

type Found = { windows: Window[]; needed: number }

/** Windows of speech as the sound comes in; `needed` is the first sample that later windows may still want. */
async function* findWindows(
  { vad }: Room,
  sound: AsyncIterable<Float32Array>,
  recording: Recording,
): AsyncGenerator<Found> {
  vad.reset()
  const segments = new Segments(windowSamples)
  const packer = new Packer()
  const take = (spans: { from: number; to: number }[]) => spans.flatMap(span => packer.add(span))
  const needed = () =>
    Math.min(packer.pending ?? Number.POSITIVE_INFINITY, segments.settled) - windowSamples / 60
  for await (const chunk of chunksOf(sound, chunkSamples)) {
    recording.add(chunk)
    yield { windows: take(segments.push(vad.next(chunk))), needed: needed() }
  }
  yield { windows: [...take(segments.end(recording.length)), ...packer.end()], needed: recording.length }
}

/** The same samples in pieces of one size. */
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

/** Tells how far within a block the work is, as a sample of the recording. */
function progressWithin(windows: readonly Window[], listener: Listener): (share: number) => Promise<void> {
  const from = windows[0]!.pieces[0]!.from
  const to = windows.at(-1)!.pieces.at(-1)!.to
  return share => listener.onSamples(Math.round(from + share * (to - from)))
}

async function encodeAll(
  { encoder, features }: Room,
  windows: readonly Window[],
  recording: Recording,
  onShare: (share: number) => Promise<void>,
): Promise<Float32Array> {
  const states = new Float32Array(windows.length * encoder.rowSize)
  for (const [row, window] of windows.entries()) {
    const sound = soundOf(window, recording)
    encoder.encode(features.logMel(sound), states, row)
    await onShare((row + 1) / windows.length)
  }
  return states
}

type BlockOrder = { language: string; align: boolean; onShare: (share: number) => Promise<void> }

function recogniseBlock(
  { whisper, decoder, attendingDecoder }: Room,
  states: Float32Array,
  windows: readonly Window[],
  { language, align, onShare }: BlockOrder,
): Promise<Spoken[]> {
  const { facts } = whisper
  const spoken = facts.languages.get(spokenAs(language, new Set(facts.languages.keys())) ?? '')
  const rows = windows.map(
    (window): Row => ({
      frames: Math.min(windowFrames, Math.ceil(window.samples / samplesPerFrame)),
      speechSeconds: seconds(window.speech.reduce((sum, each) => sum + each.to - each.from, 0)),
    }),
  )
  const attention = align && facts.alignmentHeads !== null
  return recognise(states, rows, {
    whisper,
    decoder: attention ? attendingDecoder : decoder,
    // No text of the window before: windows that wait for each other cannot be decoded together, and one that went
    // wrong misleads the next. Ten minutes of the pocket model had 5.9 % of words wrong without and 13.8 % with it.
    prompt: [
      facts.start,
      ...(spoken !== undefined && facts.transcribe !== null ? [spoken, facts.transcribe] : []),
    ],
    timestamps: true,
    attention,
    random: seeded(),
    onShare,
  })
}

/** Speech that got no text has another chance in windows of its own; what stays without is said in the log. */
async function hearAgain(
  room: Room,
  missed: readonly Window[],
  recording: Recording,
  order: BlockOrder,
  listener: Listener,
): Promise<Said[][]> {
  const found: Said[][] = []
  for (let at = 0; at < missed.length; at += room.rows) {
    const windows = missed.slice(at, at + room.rows)
    const states = await encodeAll(room, windows, recording, () => order.onShare(0))
    const spoken = await recogniseBlock(room, states, windows, { ...order, onShare: () => order.onShare(0) })
    for (const [index, window] of windows.entries()) {
      const each = spoken[index]!
      const words = placeInRecording(room.whisper, window, each, order.language, order.align)
      if (each.verdict === 'good' && words.length > 0) found.push(words)
      else {
        const { from, to } = { from: window.pieces[0]!.from, to: window.pieces.at(-1)!.to }
        listener.onWarning('speech without text', {
          from_second: Math.round(seconds(from)),
          to_second: Math.round(seconds(to)),
        })
      }
    }
  }
  return found
}

/** The same words for the same file at every run. */
function seeded(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
