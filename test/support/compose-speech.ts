// Makes long test audio from short clips, and a reference with the right texts and times. A recipe lists the clips and
// their start times. The same recipe always gives the same bytes.

import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readSound } from './read-sound.ts'
import { wavFile } from './sound.ts'

const rate = 16000

export type SpokenWord = { word: string; start: number; end: number }
export type SpokenSentence = {
  start: number
  end: number
  text: string
  speaker: string
  language: string
  voice: string
  voice_unseen: boolean
  sentence_unseen: boolean
  words: SpokenWord[]
}
export type SpokenTruth = {
  file: string
  duration: number
  language: string | null
  note?: string
  text: string
  speakers: string[]
  sentences: SpokenSentence[]
}
type Recipe = { duration: number; language: string; note: string; parts: { clip: string; at: number }[] }

/**
 * Writes the sound of the recipe to `wavPath`, as 16 kHz mono WAV. Returns the reference for this sound: the texts,
 * speakers and times of its speech.
 */
export async function composeSpeech(recipePath: string, wavPath: string): Promise<SpokenTruth> {
  const folder = dirname(recipePath)
  const recipe: Recipe = JSON.parse(readFileSync(recipePath, 'utf8'))
  const sound = new Int16Array(recipe.duration * rate)
  const clips = new Map<string, { samples: Int16Array; truth: SpokenTruth }>()
  const sentences: SpokenSentence[] = []

  for (const { clip, at } of recipe.parts) {
    let loaded = clips.get(clip)
    if (!loaded) {
      const truth: SpokenTruth = JSON.parse(readFileSync(join(folder, `${clip}.json`), 'utf8'))
      loaded = { samples: await readClip(join(folder, truth.file)), truth }
      clips.set(clip, loaded)
    }
    const first = Math.round(at * rate)
    sound.set(loaded.samples.subarray(0, sound.length - first), first)
    sentences.push(...loaded.truth.sentences.map(sentence => shiftSentence(sentence, at)))
  }

  writeFileSync(wavPath, wavFile(sound))
  return {
    file: wavPath,
    duration: recipe.duration,
    language: recipe.language,
    note: recipe.note,
    text: sentences.map(sentence => sentence.text).join(' '),
    speakers: [...new Set(sentences.map(sentence => sentence.speaker))].sort(),
    sentences,
  }
}

/** Returns the samples of a clip as 16-bit integers. */
async function readClip(path: string): Promise<Int16Array> {
  const sound = await readSound(path)
  const samples = new Int16Array(sound.length)
  // For millions of samples, a loop is much faster than `Int16Array.from` with a function.
  for (let at = 0; at < sound.length; at++)
    samples[at] = Math.max(-32_768, Math.min(32_767, Math.round(sound[at]! * 32_768)))
  return samples
}

function shiftSentence(sentence: SpokenSentence, seconds: number): SpokenSentence {
  const later = <T extends { start: number; end: number }>(span: T): T => ({
    ...span,
    start: round(span.start + seconds),
    end: round(span.end + seconds),
  })
  return { ...later(sentence), words: sentence.words.map(later) }
}

const round = (seconds: number) => Math.round(seconds * 1000) / 1000
