import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { findCommand } from '../support/command.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type Ended, steno } from '../support/program.ts'
import { readSound } from '../support/read-sound.ts'

const missing = !pocket || !clips
const skipped = unless(pocket && clips, 'pocket model with its clips')

/** Returns a WAV file with the given channels at 16 kHz. */
function wavOf(channels: readonly Float32Array[]): Uint8Array {
  const frames = Math.max(...channels.map(({ length }) => length))
  const sound = new Int16Array(frames * channels.length)
  for (const [at, channel] of channels.entries())
    for (const [frame, sample] of channel.entries()) sound[frame * channels.length + at] = sample * 32767
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + sound.byteLength, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(channels.length, 22)
  header.writeUInt32LE(16_000, 24)
  header.writeUInt32LE(16_000 * 2 * channels.length, 28)
  header.writeUInt16LE(2 * channels.length, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(sound.byteLength, 40)
  return Buffer.concat([header, new Uint8Array(sound.buffer)])
}

/** Returns the sum of `sound` and `added`. `added` begins at sample `from` and is multiplied by `gain`. */
function withSound(sound: Float32Array, added: Float32Array, from: number, gain = 1): Float32Array {
  return sound.map((sample, at) => sample + gain * (added[at - from] ?? 0))
}

const folder = temporaryFolder()

const settings = {
  STENO_MODEL: pocket && clips ? await compactPocket(pocket) : '',
  STENO_DATA_DIR: join(folder, 'data'),
}

const run = (...args: string[]) => steno(['transcribe', ...args], settings)

/** Returns the speaker and the text of each utterance of a recording. */
async function spokenIn(name: string) {
  const { speakers, utterances } = await Bun.file(join(folder, `${name}.json`)).json()
  const said = utterances.map((each: { speaker: string; text: string }) => [each.speaker, each.text])
  return { speakers, utterances, said }
}

let ended: Ended

// The tests share one run of the command, because each run starts its own engine.
beforeAll(async () => {
  if (missing) return
  const [doctor, slt] = await Promise.all(
    ['doctor', 'en-slt'].map(name => readSound(join(clips!, `${name}.flac`))),
  )
  const silence = new Float32Array(11 * 16_000)
  const left = withSound(silence, doctor!, 0)
  const right = withSound(silence, slt!, 5 * 16_000)
  // The crosstalk in the left channel is 15 dB quieter than the voice. In the right channel, it is 30 dB quieter, has
  // the opposite phase, and is 20 ms late.
  const crosstalk = [withSound(left, right, 0, 0.18), withSound(right, left, 320, -0.03)]
  await Bun.write(join(folder, 'crosstalk.wav'), wavOf(crosstalk))
  const late = new Float32Array(doctor!.length + 16_000)
  late.set(doctor!, 16_000)
  await Bun.write(join(folder, 'together.wav'), wavOf([doctor!, late]))
  const files = ['crosstalk', 'together'].map(name => join(folder, `${name}.wav`))
  const options = ['--channels', 'split', '--format', 'json', '--out', folder]
  ended = await run(...files, join(clips!, 'es-a.flac'), ...options)
  expect(ended.code).toBe(0)
}, 60_000)

test.skipIf(missing)(
  `several files become files in a folder, each in its own language${skipped}`,
  async () => {
    const { out, err } = ended
    expect(out).toBe('')
    expect(err).toMatch(/^es-a\.flac: 0:04 in \d:\d\d \(.*×\) → .*es-a\.json$/m)
    expect(err).toMatch(/^3 of 3 done, 0:20 in /m)
    const { language, utterances } = await Bun.file(join(folder, 'crosstalk.json')).json()
    expect(utterances[0].words[0]).toMatchObject({ word: 'If', confidence: expect.any(Number) })
    expect([language, (await Bun.file(join(folder, 'es-a.json')).json()).language]).toEqual(['en', 'es'])
  },
)

test.skipIf(missing)(
  `a voice that is also in the other channel, but quieter, is written once${skipped}`,
  async () => {
    expect((await spokenIn('crosstalk')).said).toEqual([
      ['SPEAKER 1', 'If it is cloudy this evening, we will stay at home.'],
      ['SPEAKER 2', 'We found the microphone in the afternoon.'],
      ['SPEAKER 2', 'The code is nine nine seven.'],
    ])
  },
)

test.skipIf(missing)(
  `two people who speak at the same time on two channels are both heard${skipped}`,
  async () => {
    const { speakers, utterances, said } = await spokenIn('together')
    expect(speakers).toEqual(['SPEAKER 1', 'SPEAKER 2'])
    const text = 'If it is cloudy this evening, we will stay at home.'
    expect(said).toEqual([
      ['SPEAKER 1', text],
      ['SPEAKER 2', text],
    ])
    expect(utterances[1].start - utterances[0].start).toBeCloseTo(1, 1)
  },
)

test('other channels than mix and split are refused', async () => {
  const { err } = await findCommand(
    join(folder, 'data'),
    'transcribe',
    import.meta.path,
    '--channels',
    'left',
  )
  expect(err).toContain('--channels is mix or split')
})
