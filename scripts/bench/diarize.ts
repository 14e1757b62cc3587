// Compares the speakers that diarization finds in test clips with the true speakers. The last column of the table is
// the share of words with the correct speaker. It counts only the words that the small test model recognised correctly.

import { join } from 'node:path'
import { sampleRate } from '../../src/engine/audio.ts'
import { openWhisper } from '../../src/engine/hear/whisper.ts'
import { whisperModel } from '../../src/engine/hear/whisper-model.ts'
import { type LoadedModels, openModels } from '../../src/engine/loaded-models.ts'
import { runtimeLibrary, vadModel } from '../../src/engine/onnx/library.ts'
import { openRuntime } from '../../src/engine/onnx/runtime.ts'
import { transcribe } from '../../src/engine/transcribe.ts'
import { Diarization } from '../../src/engine/who/diarize.ts'
import type { Turn } from '../../src/engine/who/turn.ts'
import { openVoices, type Voices } from '../../src/engine/who/voices.ts'
import { decode } from '../../src/media/decode.ts'
import { clips, firstOf, pocket, voices } from '../../test/support/engine-room.ts'
import { compareWords, plainWords } from '../../test/support/words.ts'
import { readRttm, type Segment, score, speakerCountOf } from './support/der.ts'

export const bench = { name: 'diarization: who speaks when, pocket models', run }

type Word = { word: string; speaker: string }
type Clip = { name: string; path: string; truth: Segment[]; words: Word[] }

async function run(): Promise<string[][]> {
  const rows = [
    ['clip', 'speakers', 'DER %', 'missed', 'false', 'confused', 'JER %', 'words of the right speaker %'],
  ]
  if (!pocket || !voices || !clips)
    return [...rows, ['-', 'skipped: the pocket models or their clips are not here']]
  const runtime = openRuntime(runtimeLibrary(), 2)
  const opened = openVoices(runtime, voices)
  const whisper = await openWhisper(runtime, pocket, { device: 'cpu', variant: '' })
  const models = openModels(
    runtime,
    [whisperModel(runtime, 'pocket', whisper)],
    await Bun.file(vadModel()).bytes(),
    opened,
  )
  for (const clip of await clipsWithTruth()) {
    const said = segments(await turnsOf(opened, clip.path))
    const { speech, missed, false: added, confused, rate, jaccard } = score(clip.truth, said)
    const percent = (share: number) => (100 * share).toFixed(1)
    rows.push([
      clip.name,
      `${speakerCountOf(said)} of ${speakerCountOf(clip.truth)}`,
      percent(rate),
      ...[missed, added, confused].map(seconds => percent(seconds / speech)),
      percent(jaccard),
      clip.words.length > 0 ? percent(await wordsRight(models, clip)) : '-',
    ])
  }
  return rows
}

async function clipsWithTruth(): Promise<Clip[]> {
  const own = ['conversation', 'en-two-voices'].map(async name => {
    const { file, sentences } = await Bun.file(join(clips!, `${name}.json`)).json()
    type Sentence = { start: number; end: number; speaker: string; words: { word: string }[] }
    return {
      name,
      path: join(clips!, file),
      truth: sentences.map(({ start, end, speaker }: Sentence) => ({ from: start, to: end, speaker })),
      words: sentences.flatMap(({ words, speaker }: Sentence) =>
        words.map(({ word }) => ({ word, speaker })),
      ),
    }
  })
  const folder = firstOf('../shared/pocket-diar/audio')
  const beside = ['solo.opus', 'duo.flac', 'phone-8k.flac', 'overlap.flac', 'trio.opus', 'quartet.opus']
  const sketches = (folder ? beside : []).map(async file => {
    const name = file.replace(/\.\w+$/, '')
    const rttm = await Bun.file(join(folder!, `${name}.rttm`)).text()
    return { name, path: join(folder!, file), truth: readRttm(rttm), words: [] }
  })
  return Promise.all([...own, ...sketches])
}

function soundOf(path: string) {
  return decode(path, { signal: new AbortController().signal, durationMsMax: 36_000_000 })
}

async function turnsOf(opened: Voices, path: string): Promise<Turn[]> {
  const diarization = new Diarization(opened)
  for await (const part of soundOf(path)) diarization.add(part)
  return diarization.finish(null).turns
}

/** Returns the share of words with the correct speaker, among the correctly recognised words. */
async function wordsRight(models: LoadedModels, { path, truth, words }: Clip): Promise<number> {
  const order = {
    path,
    durationMs: 0,
    language: null,
    diarize: true,
    speakerCount: null,
    align: true,
    prompt: null,
    vocabulary: [],
  }
  const quiet = { onSamples: async () => {}, onWarning: () => {} }
  const { utterances } = await transcribe(models, soundOf(path), order, quiet)
  const heard = utterances.flatMap(utterance => utterance.words)
  const plain = ({ word }: { word: string }) => plainWords(word).join('')
  const { pairs } = compareWords(words.map(plain), heard.map(plain))
  const said = utterances.map(({ start, end, speaker }) => ({ from: start, to: end, speaker: speaker! }))
  const { matched } = score(truth, said, 0)
  const right = pairs.filter(([at, there]) => matched.get(words[at]!.speaker) === heard[there]!.speaker)
  return right.length / pairs.length
}

function segments(turns: readonly Turn[]): Segment[] {
  return turns.map(({ from, to, speaker }) => ({
    from: from / sampleRate,
    to: to / sampleRate,
    speaker: `${speaker}`,
  }))
}
