// Tests the audio files of the tests: every clip is complete, its text fits its word times, and the files are small.

import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { composeSpeech, type SpokenTruth } from './support/compose-speech.ts'
import { temporaryFolder } from './support/folder.ts'

const folder = join(import.meta.dir, 'fixtures/speech')
const names = readdirSync(folder)
  .filter(each => each.endsWith('.json') && !each.endsWith('.recipe.json'))
  .map(each => each.slice(0, -'.json'.length))

function truthOf(name: string): SpokenTruth {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
}

function faultsOf(truth: SpokenTruth): string[] {
  const faults: string[] = []
  const say = (fault: string) => faults.push(`${truth.file}: ${fault}`)
  if (truth.text !== truth.sentences.map(each => each.text).join(' ')) say('the text is not its sentences')
  const speakers = [...new Set(truth.sentences.map(each => each.speaker))].sort()
  if (!Bun.deepEquals(speakers, truth.speakers)) say('other speakers than those of the sentences')
  for (const { text, start, end, words } of truth.sentences) {
    if (words.map(each => each.word).join(' ') !== text) say(`other words than "${text}"`)
    if (start < 0 || end > truth.duration) say(`"${text}" lies outside the sound`)
    if (words[0]?.start !== start || words.at(-1)?.end !== end) say(`"${text}" is not as long as its words`)
    for (const [index, word] of words.entries()) {
      const next = words[index + 1]?.start ?? end
      // The speech synthesizer blends adjacent words, so a word may overlap the next word by up to 20 ms.
      if (word.start >= word.end || word.end > next + 0.02) say(`"${word.word}" is out of order in "${text}"`)
    }
  }
  return faults
}

test('every clip has a sound file and consistent reference times', () => {
  for (const name of names) {
    const truth = truthOf(name)
    expect(existsSync(join(folder, truth.file))).toBe(true)
    expect(faultsOf(truth)).toEqual([])
  }
  const broken = truthOf('doctor')
  broken.sentences[0]!.words.reverse()
  expect(faultsOf(broken)).not.toEqual([])
})

test('the clips take at most 6 MB', () => {
  const sizes = readdirSync(folder).map(each => statSync(join(folder, each)).size)
  expect(sizes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(6_000_000)
})

test('the clips cover four languages, and voices and sentences that the recogniser was not trained on', () => {
  const sentences = names.flatMap(each => truthOf(each).sentences)
  expect([...new Set(sentences.map(each => each.language))].sort()).toEqual(['de', 'en', 'es', 'fr'])
  expect(sentences.some(each => each.voice_unseen)).toBe(true)
  expect(sentences.filter(each => each.sentence_unseen).length).toBeGreaterThan(sentences.length / 2)
})

test('there are clips of silence, noise, tones and other sound that misleads a recogniser', () => {
  for (const name of ['silence', 'noise', 'tones']) expect(truthOf(name).sentences).toEqual([])
  const pauses = truthOf('en-pauses').sentences
  for (const [index, each] of pauses.slice(1).entries())
    expect(each.start - pauses[index]!.end).toBeGreaterThan(7)
  expect(truthOf('en-one-word').text.split(' ')).toHaveLength(1)
  const edges = truthOf('en-edges')
  expect(edges.sentences[0]!.start).toBeLessThan(0.05)
  expect(edges.duration - edges.sentences.at(-1)!.end).toBeLessThan(0.1)
  expect(truthOf('en-numbers').sentences).toHaveLength(4)
  expect(truthOf('en-stereo').speakers).toHaveLength(2)
  expect(existsSync(join(folder, 'en-phone.wav'))).toBe(true)
})

test('the conversation has two minutes of three voices, with one overlap', () => {
  const { duration, speakers, sentences } = truthOf('conversation')
  expect(duration).toBeGreaterThanOrEqual(119)
  expect(speakers).toEqual(['A', 'B', 'C'])
  const overlaps = sentences.filter((each, index) =>
    sentences.slice(0, index).some(other => other.speaker !== each.speaker && other.end > each.start + 0.3),
  )
  expect(overlaps).toHaveLength(1)
})

test('the monologue has ten minutes of one voice, the same in every run', async () => {
  const out = temporaryFolder()
  const recipe = join(folder, 'monologue.recipe.json')
  const made = await Promise.all(['one.wav', 'two.wav'].map(file => composeSpeech(recipe, join(out, file))))
  for (const truth of made) {
    expect(truth.duration).toBe(600)
    expect(truth.speakers).toHaveLength(1)
    expect(faultsOf(truth)).toEqual([])
  }
  const [one, two] = await Promise.all(made.map(each => Bun.file(each.file).bytes()))
  expect(Bun.hash(one!)).toBe(Bun.hash(two!))
}, 60_000)
