// The conversations on which the benchmarks measure diarization.

import { basename, dirname, join } from 'node:path'
import { seeded } from '../../../test/support/random.ts'
import { readSound } from '../../../test/support/read-sound.ts'
import { type Conversation, converse, styles, type Voice } from './conversations.ts'

export type Named = Conversation & { group: string; name: string }

/**
 * A conversation of n voices lasts (n + 1) × `secondsEach` seconds. So each voice speaks for about `secondsEach`
 * seconds or more, although a part of the conversation is pauses.
 */
const secondsEach = 30

/**
 * Makes conversations from the recordings of LibriSpeech in the folder `shared`. Each voice is a person who reads
 * aloud.
 */
export async function* conversationsOfReaders(shared: string, seed: number): AsyncGenerator<Named> {
  const readers = await readersIn(join(shared, 'librispeech-test-other'))
  yield* conversationsOf('readers', readers, [2, 2, 3, 3, 5], seed)
}

/**
 * Makes conversations from the recordings in `voices`. For each number of voices in `counts`, makes four conversations:
 * with pauses, with overlaps, with noise, and in telephone quality. The voices are chosen at random. The same seed
 * gives the same conversations.
 */
export function* conversationsOf(
  group: string,
  voices: readonly Voice[],
  counts: readonly number[],
  seed: number,
): Generator<Named> {
  const random = seeded(seed)
  for (const [index, count] of counts.entries()) {
    for (const [style, how] of Object.entries(styles)) {
      const left = [...voices]
      const chosen = Array.from({ length: count }, () => left.splice(random.below(left.length), 1)[0]!)
      const seconds = secondsEach * (1 + count)
      const made = converse(chosen, how, { seed: 100 * seed + index, seconds })
      yield { group: `${group}, ${style}`, name: `${group}-${style}-${count}-${index}`, ...made }
    }
  }
}

async function readersIn(folder: string): Promise<Voice[]> {
  const paths = [...new Bun.Glob('*/*.flac').scanSync(folder)].toSorted()
  const voices = new Map<string, Voice>()
  for (const path of paths) {
    const name = basename(dirname(path))
    const voice = voices.get(name) ?? { name, utterances: [] }
    voice.utterances.push(await readSound(join(folder, path)))
    voices.set(name, voice)
  }
  return [...voices.values()]
}
