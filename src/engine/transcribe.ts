// The way from sound to text: decode → findSpeech → pack → recognise → align → assemble, block by block, so that
// ten hours need no more memory than ten minutes.

import { JobFailure } from '../errors.ts'
import { spokenAs } from '../languages.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import { wordTimes } from './align.ts'
import { assemble, type Said } from './assemble.ts'
import { samplesPerFrame, seconds, windowSamples } from './audio.ts'
import { makeDecoder } from './decoder.ts'
import { type Features, openFeatures } from './features.ts'
import { detect } from './language.ts'
import type { TranscribeInput } from './protocol.ts'
import { type Row, recognise, type Spoken } from './recognise.ts'
import type { Runtime } from './runtime.ts'
import { chunkSamples, openVad, Segments, type Vad } from './vad.ts'
import { makeEncoder, type Whisper } from './whisper.ts'
import { Packer, Recording, sampleOf, soundOf, type Window } from './windows.ts'

export type Room = { runtime: Runtime; whisper: Whisper; vad: Vad; features: Features; rows: number }

export type Listener = {
  /** Samples of sound that are done with. */
  onSamples(done: number): Promise<void>
  onWarning(event: string, fields: Record<string, string | number>): void
}

/** All that stays loaded between jobs. */
export function openRoom(runtime: Runtime, whisper: Whisper, vadModel: string | Uint8Array): Room {
  return {
    runtime,
    whisper,
    vad: openVad(runtime, vadModel),
    features: openFeatures(runtime, whisper.facts.mels),
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
  if (input.diarize)
    throw new JobFailure('PROCESSING_ERROR', 'The models for telling speakers apart are missing.')
  const known = new Set(room.whisper.facts.languages.keys())
  let language = input.language
  if (language !== null) checkLanguage(language, known)

  const said: Said[] = []
  const recording = new Recording()
  let block: Window[] = []
  const work = async () => {
    const windows = block
    block = []
    if (windows.length === 0) return
    const states = encodeAll(room, windows, recording)
    language ??= await detect(room.runtime, room.whisper, states, windows)
    const asked = language
    const spoken = await recogniseBlock(room, states, windows, { ...input, language: asked }, listener)
    for (const [index, window] of windows.entries())
      said.push(...placeInRecording(room, window, spoken[index]!, asked, input.align))
    await listener.onSamples(windows.at(-1)!.pieces.at(-1)!.to)
  }

  for await (const { windows, needed } of findWindows(room, sound, recording)) {
    for (const window of windows) {
      block.push(window)
      if (block.length === room.rows) await work()
    }
    recording.forget(block[0]?.pieces[0]?.from ?? needed)
  }
  await work()
  await listener.onSamples(recording.length)
  return assemble(said, { language: language ?? 'en', samples: recording.length, align: input.align })
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

function encodeAll({ runtime, whisper, features }: Room, windows: readonly Window[], recording: Recording) {
  const encoder = makeEncoder(runtime, whisper)
  const states = new Float32Array(windows.length * encoder.rowSize)
  for (const [row, window] of windows.entries()) {
    encoder.encode(features.logMel(soundOf(window, (from, to) => recording.slice(from, to))), states, row)
  }
  return states
}

async function recogniseBlock(
  { runtime, whisper }: Room,
  states: Float32Array,
  windows: readonly Window[],
  { language, align }: { language: string; align: boolean },
  listener: Listener,
): Promise<Spoken[]> {
  const { facts } = whisper
  const spoken = facts.languages.get(spokenAs(language, new Set(facts.languages.keys())) ?? '')
  const task = facts.transcribe
  const prompt = [facts.start, ...(spoken !== undefined && task !== null ? [spoken, task] : [])]
  const rows = windows.map(
    (window): Row => ({
      frames: Math.min(1500, Math.ceil(window.samples / samplesPerFrame)),
      speechSeconds: seconds(window.speech.reduce((sum, each) => sum + each.to - each.from, 0)),
    }),
  )
  const results = await recognise(states, rows, {
    whisper,
    decoder: makeDecoder(runtime, whisper, align),
    prompt,
    timestamps: true,
    attention: align && facts.alignmentHeads !== null,
    random: seeded(),
    onStep: () => listener.onSamples(-1),
  })
  for (const [index, each] of results.entries()) {
    const { from } = windows[index]!.pieces[0]!
    if (each.verdict === 'doubtful')
      listener.onWarning('doubtful_window', { second: Math.round(seconds(from)) })
  }
  return results
}

/** The same words for the same file at every run. */
function seeded(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function placeInRecording(
  { whisper }: Room,
  window: Window,
  spoken: Spoken,
  language: string,
  align: boolean,
): Said[] {
  if (spoken.verdict === 'silence') return []
  const { facts, tokenizer } = whisper
  const stretches = stretchesOf(spoken, facts.firstTimestamp, facts.end)
  if (!align || spoken.attention.length === 0) {
    return stretches.map(({ ids, from, to, logProbabilities }) => ({
      text: tokenizer.decode(ids),
      from: sampleOf(window, from),
      to: sampleOf(window, to),
      probability: logProbabilities.reduce((sum, each) => sum + Math.exp(each), 0) / logProbabilities.length,
    }))
  }
  const text = spoken.tokens.map((id, index) => ({ id, index })).filter(({ id }) => id < facts.end)
  const rows = [...text.map(({ index }) => index), spoken.attention.length - 1]
  const words = wordTimes(
    tokenizer,
    language,
    text.map(({ id }) => id),
    text.map(({ index }) => spoken.logProbabilities[index]!),
    rows.map(index => spoken.attention[index]!),
    spoken.frames,
  )
  return words.map(({ text, from, to, probability }) => ({ text, ...spanOf(window, from, to), probability }))
}

/** A word's frames in the recording: in the piece where its middle lies, and not outside speech. */
function spanOf(window: Window, from: number, to: number): { from: number; to: number } {
  const middle = sampleOf(window, (from + to) / 2)
  const piece = window.pieces.findLast(each => each.from <= middle) ?? window.pieces[0]!
  const within = (at: number) => Math.min(Math.max(at, piece.from), piece.to)
  const place = (frame: number) => within(piece.from + frame * samplesPerFrame - piece.at)
  const [start, end] = [place(from), place(to)]
  const heard = window.speech.filter(each => each.from < end && each.to > start)
  if (heard.length === 0) return { from: start, to: end }
  return { from: Math.max(start, heard[0]!.from), to: Math.min(end, heard.at(-1)!.to) }
}

type Stretch = { ids: number[]; logProbabilities: number[]; from: number; to: number }

/** Text between timestamps, in frames; text after the last timestamp runs to the window's end. */
function stretchesOf({ tokens, logProbabilities, frames }: Spoken, first: number, end: number): Stretch[] {
  const stretches: Stretch[] = []
  let open: Stretch = { ids: [], logProbabilities: [], from: 0, to: frames }
  for (const [index, id] of tokens.entries()) {
    if (id < end) {
      open.ids.push(id)
      open.logProbabilities.push(logProbabilities[index]!)
    } else if (id >= first) {
      const at = Math.min(id - first, frames)
      if (open.ids.length > 0) stretches.push({ ...open, to: at })
      open = { ids: [], logProbabilities: [], from: at, to: frames }
    }
  }
  return open.ids.length > 0 ? [...stretches, open] : stretches
}
