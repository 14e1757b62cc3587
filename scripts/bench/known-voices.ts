// Measures the recognition of known voices. A voice print is a vector that stands for a voice. Two voice prints count
// as one person if their similarity reaches a threshold. A missed pair is a pair from one reader that does not count as
// one person. A wrong pair is a pair from two readers that counts as one person. The table shows the shares of missed
// and wrong pairs for each threshold.
//
// The readers are five people in LibriSpeech test-other in ../shared. The built-in voice encoder was not trained on
// their recordings. In the rows `chosen on three readers`, three readers determine the threshold, and the other two
// test it.

import { basename, dirname, join } from 'node:path'
import { joinFloats } from '../../src/base/join-floats.ts'
import { type VoiceFiles, voicesFor } from '../../src/engine/models/voices.ts'
import { printsOf } from '../../src/engine/who/prints.ts'
import { dot } from '../../src/engine/who/unit.ts'
import { openVoices } from '../../src/engine/who/voices.ts'
import { firstOf, runtime } from '../../test/support/engine-room.ts'
import { seeded } from '../../test/support/random.ts'
import { readSound } from '../../test/support/read-sound.ts'

export const bench = { name: 'Known voices: readers of LibriSpeech, by the built-in encoder', run }

const drawsPerReader = 15
const thresholds = [0.6, 0.65, 0.7, 0.75, 0.8, 0.85]
const random = seeded(17)

type Draw = { reader: string; print: Float32Array; test: Float32Array }

async function run(): Promise<string[][]> {
  const from = firstOf('../shared/audio/librispeech-test-other')
  if (!from) return [['SKIPPED: no ../shared/audio/librispeech-test-other here']]
  const readers = await readReaders(from)
  const { embedder } = openVoices(runtime(), voicesFor('base', '/nowhere') as VoiceFiles)
  const rows = [
    ['speech of each print', 'pairs', ...thresholds.map(each => `missed, wrong at ${each}`), 'EER'],
  ]
  const printOf = async (sounds: readonly Float32Array[], noise: boolean) => {
    const sound = joinFloats(noise ? sounds.map(withNoise) : sounds)
    const [print] = await printsOf(embedder, once(sound), [[{ from: 0, to: sound.length }]])
    return print
  }
  for (const [name, count, noise] of [
    ['6 to 15 s', 1, false],
    ['12 to 30 s', 2, false],
    ['30 s', 4, false],
    ['12 to 30 s, against noise of 10 dB', 2, true],
  ] as const) {
    const draws: Draw[] = []
    for (const [reader, sounds] of readers)
      for (let draw = 0; draw < drawsPerReader; draw++) {
        const shuffled = shuffle(sounds)
        const print = await printOf(shuffled.slice(0, count), false)
        const test = await printOf(shuffled.slice(count, 2 * count), noise)
        if (print && test) draws.push({ reader, print, test })
      }
    rows.push([name, ...rates(draws)])
    if (count === 2) rows.push([`${name}, chosen on three readers`, ...heldOut(draws)])
  }
  return rows
}

/**
 * The maximum share of wrong pairs among all pairs of voice prints from two people. A wrong pair counts as one person,
 * because its similarity is above the threshold.
 */
const wrongMax = 0.001

/**
 * Chooses a threshold on three of the five people and tests it on the remaining two, for each choice of three.
 *
 * A pair of voice prints is accepted if its similarity is above the threshold. A missed pair is a pair from one person
 * that is not accepted. A wrong pair is a pair from two people that is accepted. The chosen threshold is the lowest one
 * that accepts at most the share `wrongMax` of all pairs from two people.
 *
 * Returns the number of tested pairs, the shares of missed and wrong pairs, and the range of thresholds.
 */
function heldOut(draws: readonly Draw[]): string[] {
  const all = [...new Set(draws.map(({ reader }) => reader))]
  const total = { same: 0, missed: 0, different: 0, wrong: 0 }
  const chosen: number[] = []
  for (const [index, one] of all.entries())
    for (const other of all.slice(index + 1)) {
      const isHeld = ({ reader }: Draw) => reader === one || reader === other
      const tuning = likenesses(draws.filter(draw => !isHeld(draw)))
      const least =
        tuning.different.toSorted((a, b) => b - a)[Math.floor(wrongMax * tuning.different.length)] ?? 0
      chosen.push(least)
      const { same, different } = likenesses(draws.filter(isHeld))
      total.same += same.length
      total.missed += same.filter(likeness => likeness <= least).length
      total.different += different.length
      total.wrong += different.filter(likeness => likeness > least).length
    }
  return [
    `${total.same} + ${total.different}`,
    `${percent(total.missed / total.same)}, ${percent(total.wrong / total.different)}`,
    `at ${Math.min(...chosen).toFixed(2)} to ${Math.max(...chosen).toFixed(2)}`,
  ]
}

/**
 * Returns the similarities of pairs of voice prints. A draw is a random choice of recordings of one person, from which
 * two voice prints are made: `print` and `test`. `same` has the similarity of `print` and `test` for each draw.
 * `different` has the similarity of each `print` to each `test` of another person.
 */
function likenesses(draws: readonly Draw[]): { same: number[]; different: number[] } {
  const same: number[] = []
  const different: number[] = []
  for (const one of draws)
    for (const other of draws)
      if (one === other) same.push(dot(one.print, other.test))
      else if (one.reader !== other.reader) different.push(dot(one.print, other.test))
  return { same, different }
}

/**
 * Returns the numbers of pairs of voice prints (from one person + from two people), the shares of missed and wrong
 * pairs at each threshold, and the equal error rate. A missed pair is a pair from one person with a similarity below
 * the threshold. A wrong pair is a pair from two people with a similarity at or above the threshold. The equal error
 * rate is the share of missed pairs at the threshold at which both shares are about equal.
 */
function rates(draws: readonly Draw[]): string[] {
  const { same, different } = likenesses(draws)
  const missed = (least: number) => same.filter(likeness => likeness < least).length / same.length
  const wrong = (least: number) => different.filter(likeness => likeness >= least).length / different.length
  const equal = same
    .concat(different)
    .toSorted((a, b) => Math.abs(missed(a) - wrong(a)) - Math.abs(missed(b) - wrong(b)))
  return [
    `${same.length} + ${different.length}`,
    ...thresholds.map(least => `${percent(missed(least))}, ${percent(wrong(least))}`),
    percent(missed(equal[0] ?? 0)),
  ]
}

async function readReaders(folder: string): Promise<Map<string, Float32Array[]>> {
  const readers = new Map<string, Float32Array[]>()
  for (const path of [...new Bun.Glob('*/*.flac').scanSync(folder)].toSorted()) {
    const reader = basename(dirname(path))
    readers.set(reader, [...(readers.get(reader) ?? []), await readSound(join(folder, path))])
  }
  return readers
}

async function* once(sound: Float32Array): AsyncGenerator<Float32Array> {
  yield sound
}

/** Adds white noise that is 10 dB quieter than the sound. */
function withNoise(sound: Float32Array): Float32Array {
  const power = sound.reduce((sum, value) => sum + value * value, 0) / sound.length
  const width = Math.sqrt((12 * power) / 10)
  return sound.map(value => value + (random.below(2 ** 20) / 2 ** 20 - 0.5) * width)
}

function shuffle<Item>(items: readonly Item[]): Item[] {
  const left = [...items]
  return items.map(() => left.splice(random.below(left.length), 1)[0]!)
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
