import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { joinFloats } from '../../src/base/join-floats.ts'
import { selfCommand } from '../../src/base/self.ts'
import type { EncodedWindow, EncoderInput } from '../../src/engine/hear/network.ts'
import type { SpeechModel } from '../../src/engine/hear/speech-model.ts'
import type { Whisper } from '../../src/engine/hear/whisper.ts'
import { whisperModel } from '../../src/engine/hear/whisper-model.ts'
import type { Window } from '../../src/engine/hear/windows.ts'
import { type LoadedModels, openModels } from '../../src/engine/loaded-models.ts'
import { prepareModel } from '../../src/engine/models/choose.ts'
import { type VoiceFiles, voicesFor } from '../../src/engine/models/voices.ts'
import { vadModel } from '../../src/engine/onnx/library.ts'
import type { TranscribeInput } from '../../src/engine/request.ts'
import { transcribe } from '../../src/engine/transcribe.ts'
import { openVoices, type Voices } from '../../src/engine/who/voices.ts'
import { Worker } from '../../src/engine/worker.ts'
import { decode } from '../../src/media/decode.ts'
import type { SpeakerTurn, Transcript, Utterance } from '../../src/transcripts/transcript.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { defaults } from '../support/defaults.ts'
import { clips, pocket, runtime, unless, voices } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openedVoices, openedWhisper } from '../support/opened-models.ts'
import { plainInput } from '../support/plain-input.ts'
import { noise, wavFile } from '../support/sound.ts'
import { compareTimes, compareWords, plainWords, type Truth } from '../support/words.ts'

const missing = !pocket || !clips
const skipped = unless(pocket && clips, 'pocket model with its clips')
let compactFolder: string
/**
 * All models of the engine. The speech model is the pocket model (the small model of the tests), which steno has
 * converted to the compact form (8-bit weights).
 */
let models: LoadedModels
let compact: Whisper
/**
 * All models of the engine. The speech model is the pocket model (the small model of the tests), in the form in which
 * Whisper models are published: ONNX graphs with 32-bit floats. In `models`, the same model has 8-bit weights.
 */
let published: LoadedModels

beforeAll(async () => {
  if (missing) return
  compactFolder = await compactPocket(pocket!)
  compact = await openedWhisper(compactFolder, 'compact')
  const graphs = await openedWhisper(pocket!, '')
  models = openModels(
    runtime(),
    [whisperModel(runtime(), 'pocket', compact)],
    await Bun.file(vadModel()).bytes(),
    voices ? openedVoices('pocket') : { problem: 'no voice models' },
  )
  published = { ...models, speech: [whisperModel(runtime(), 'pocket', graphs)] }
})

const input = plainInput({ durationMs: 0 })

async function* all(samples: Float32Array) {
  for (let at = 0; at < samples.length; at += 10_000) yield samples.subarray(at, at + 10_000)
}

function hear(
  sound: AsyncIterable<Float32Array>,
  change: Partial<TranscribeInput> = {},
  onUtterances: (utterances: Utterance[], language: string) => void = () => {},
  loaded: LoadedModels = models,
): Promise<Transcript> {
  return transcribe(
    loaded,
    sound,
    { ...input, ...change },
    { onSamples: async () => {}, onWarning: () => {}, onUtterances },
  )
}

const reading = { signal: new AbortController().signal, durationMsMax: 36_000_000 }

async function* sound({ file, duration }: Truth) {
  let left = Math.ceil(duration * 16_000)
  for await (const part of decode(join(clips!, file), reading)) {
    yield part.subarray(0, left)
    left -= part.length
    if (left <= 0) return
  }
}

async function read(sound: AsyncIterable<Float32Array>): Promise<Float32Array> {
  return joinFloats(await Array.fromAsync(sound))
}

/**
 * Returns two clips with a silence of 25 s between them. A pause of 10 s ends a window, so no window contains speech of
 * both clips.
 */
function withPause(first: Float32Array, second: Float32Array): Float32Array {
  const at = first.length + 25 * 16_000
  const both = new Float32Array(at + second.length)
  both.set(first)
  both.set(second, at)
  return both
}

async function truthOf(name: string): Promise<Truth> {
  const truth: Truth = await Bun.file(join(clips!, `${name}.json`)).json()
  return name === 'conversation' ? beginningOf(truth) : truth
}

/** Returns the reference (the known sentences) of the first 35 s of the conversation. This part fills two windows. */
function beginningOf(truth: Truth): Truth {
  const duration = 35.3
  const sentences = truth.sentences.filter(({ words }) => words[0]!.start < duration)
  return { ...truth, duration, sentences, text: sentences.map(({ text }) => text).join(' ') }
}

type Heard = { truth: Truth; transcript: Transcript; reported: Utterance[] }

let heardClips: Promise<Map<string, Heard>> | null = null

/**
 * Returns the transcript of a clip with the default options. The first call transcribes all clips except the
 * monologues. If the clips are transcribed together, they take less CPU time than one after the other.
 */
async function hearClip(name: string): Promise<Heard> {
  heardClips ??= hearClips()
  return (await heardClips).get(name)!
}

async function hearClips(): Promise<Map<string, Heard>> {
  const names = [...new Bun.Glob('*.json').scanSync(clips!)]
    .filter(file => !file.startsWith('monologue'))
    .map(file => file.replace('.json', ''))
  return new Map(
    await Promise.all(names.map(async name => [name, await hearClipWith(models, name)] as const)),
  )
}

async function hearClipWith(loaded: LoadedModels, name: string): Promise<Heard> {
  const truth = await truthOf(name)
  const reported: Utterance[] = []
  const transcript = await hear(sound(truth), {}, utterances => reported.push(...utterances), loaded)
  return { truth, transcript, reported }
}

const each = ['doctor', 'en-edges', 'en-f2', 'en-unseen-m5', 'es-a', 'es-b', 'fr-a', 'fr-b']
test
  .skipIf(missing)
  .each([
    ...each.map(name => [name, 'the compact form', hearClip] as const),
    ...['en-f2', 'es-a'].map(
      name => [name, 'the published graphs', (name: string) => hearClipWith(published, name)] as const,
    ),
  ])(`%s has the right words, times and language with %s${skipped}`, async (name, _, hearIt) => {
  const { truth, transcript, reported } = await hearIt(name)
  expect(reported).toEqual(transcript.utterances)
  expect(transcript.language).toBe(truth.language)
  const { errors } = compareWords(plainWords(truth.text), plainWords(transcript.full_transcript))
  expect(errors / plainWords(truth.text).length).toBeLessThanOrEqual(0.1)
  const { right, of } = compareTimes(truth, transcript)
  expect(right / of).toBeGreaterThanOrEqual(0.9)
  expect(transcript.duration_seconds).toBeCloseTo(truth.duration, 1)
  expectOrder(transcript)
})

test.skipIf(missing)(
  `all clips together have the right words, times and languages${skipped}`,
  async () => {
    const sum = { words: 0, errors: 0, right: 0, of: 0, clips: 0, languages: 0 }
    heardClips ??= hearClips()
    for (const [name, { truth, transcript }] of await heardClips) {
      if (['silence', 'noise', 'tones'].includes(name)) continue
      const expected = plainWords(truth.text)
      const times = compareTimes(truth, transcript)
      sum.words += expected.length
      sum.errors += compareWords(expected, plainWords(transcript.full_transcript)).errors
      sum.right += times.right
      sum.of += times.of
      sum.clips++
      sum.languages += Number(transcript.language === truth.language)
    }
    expect(sum.clips).toBeGreaterThan(20)
    expect(sum.errors / sum.words).toBeLessThanOrEqual(0.05)
    expect(sum.right / sum.of).toBeGreaterThanOrEqual(0.9)
    expect(sum.languages / sum.clips).toBeGreaterThanOrEqual(0.95)
  },
  60_000,
)

test.skipIf(missing)(
  `recordings that are transcribed at the same time have the transcripts that they have alone${skipped}`,
  async () => {
    const names = ['doctor', 'es-a', 'en-f2', 'silence']
    for (const name of names) {
      const { truth, transcript: together } = await hearClip(name)
      const alone = await hear(sound(truth))
      expect(together.full_transcript).toBe(alone.full_transcript)
      expect(together.language).toBe(alone.language)
      expect(compareTimes(truth, together)).toEqual(compareTimes(truth, alone))
    }
  },
)

test.skipIf(missing).each(['silence', 'noise', 'tones'])(`%s has no text${skipped}`, async name => {
  const { truth, transcript } = await hearClip(name)
  expect(transcript).toMatchObject({ full_transcript: '', utterances: [], speakers: null })
  expect(transcript.duration_seconds).toBeCloseTo(truth.duration, 1)
})

// A job is charged for the duration in its transcript. The media program rounds the duration of a file down, so the
// engine must do this too.
test.skipIf(missing)(`the duration is rounded down to a millisecond${skipped}`, async () => {
  const { duration_seconds } = await hear(all(new Float32Array(2 * 16_000 - 1)))
  expect(duration_seconds).toBe(1.999)
})

type TwoClips = { truths: Truth[]; samples: Float32Array; bytes: Uint8Array; transcript: Transcript }

let heardTwo: Promise<TwoClips> | null = null

/**
 * Joins two clips with a long silence between them. Returns the known sentences of the two clips, the samples of the
 * joined sound, its WAV file as bytes, and its transcript.
 */
async function twoClips(): Promise<TwoClips> {
  const truths = await Promise.all(['doctor', 'en-unseen-linda'].map(truthOf))
  const [first, second] = await Promise.all(truths.map(truth => read(sound(truth))))
  const samples = withPause(first!, second!)
  const bytes = wavFile(Int16Array.from(samples, value => Math.round(value * 32_767)))
  const path = join(temporaryFolder(), 'sound.wav')
  await Bun.write(path, bytes)
  return { truths, samples, bytes, transcript: await hear(decode(path, reading)) }
}

test.skipIf(missing)(`a long silence between two parts adds no words and moves none${skipped}`, async () => {
  heardTwo ??= twoClips()
  const { truths, samples, transcript } = await heardTwo
  const [first, second] = truths.map(truth => ({
    text: truth.text,
    start: truth.sentences[0]!.words[0]!.start,
  }))
  const said = plainWords(`${first!.text} ${second!.text}`)
  expect(compareWords(said, plainWords(transcript.full_transcript)).errors).toBeLessThanOrEqual(1)
  const later = transcript.utterances.find(({ start }) => start > 16)
  const begins = samples.length / 16_000 - truths[1]!.duration + second!.start
  expect(Math.abs(later!.start - begins)).toBeLessThan(0.4)
})

test.skipIf(missing || process.platform !== 'linux')(
  `two windows that are encoded at the same time have the bytes that each has alone${skipped}`,
  () => {
    const { encoder, facts } = compact
    const [one, other] = [100, 350].map(soundFrames => ({
      picture: Float32Array.from({ length: facts.mels * 3000 }, (_, at) => Math.sin(at * soundFrames)),
      soundFrames,
    })) as [EncoderInput, EncoderInput]
    const together = encoder.encodeTwo?.(one, other) ?? []
    const alone = [one, other].map(window => encoder.encode(window))
    const hashes = alone.map(hashesOf)
    expect(together.map(hashesOf)).toEqual(hashes)
    expect(hashes[0]).not.toEqual(hashes[1])
    for (const window of [...together, ...alone]) window.close()
  },
)

/** Returns hashes of the first two tensors of an encoded window, which are the keys and the values in 8 bits. */
function hashesOf({ tensors }: EncodedWindow): string[] {
  return tensors.slice(0, 2).map(tensor => {
    const length = tensor.dims.reduce((product, size) => product * size, 1)
    return Bun.hash(tensor.bytes(length)).toString(16)
  })
}

// The engine process starts a second thread for one of the two windows. It starts the thread after it has given up most
// of its rights. The rights that are left must allow this start.
test.skipIf(missing || process.platform !== 'linux')(
  `an engine process with two threads encodes two windows at the same time, with the transcript of this process${skipped}`,
  async () => {
    heardTwo ??= twoClips()
    const { bytes, transcript: own } = await heardTwo
    const dataDir = temporaryFolder()
    // The engine may read files in subfolders of the data folder, such as `media`, but no file directly in it.
    const path = join(dataDir, 'media/sound.wav')
    await Bun.write(path, bytes)
    const counts = join(dataDir, 'counts')
    const settings = { ...defaults, model: compactFolder, device: 'cpu' as const, dataDir, threads: 2 }
    const command = selfCommand('engine-with-counts', counts)
    const worker = new Worker(await prepareModel(settings, () => {}), settings, { dataDir, command })
    try {
      await worker.load()
      const { signal } = new AbortController()
      const transcript = await worker.run(plainInput({ path, durationMs: 60_000 }), {
        signal,
        onSeconds: () => {},
      })
      expect((await Bun.file(counts).text()).split('\n').length - 1).toBe(1)
      const { utterances, full_transcript } = own
      expect(transcript).toMatchObject({ utterances, full_transcript })
    } finally {
      await worker.kill()
    }
  },
)

test.skipIf(missing)(
  `without align the text is the same, and an utterance has times and no words${skipped}`,
  async () => {
    const { truth, transcript } = await hearClip('doctor')
    const { full_transcript, utterances } = await hear(sound(truth), { align: false })
    expect(full_transcript).toBe(transcript.full_transcript)
    expect(utterances.length).toBe(truth.sentences.length)
    expect(utterances.every(each => each.words.length === 0 && each.confidence! > 0.3)).toBe(true)
    for (const [index, each] of utterances.entries()) {
      expect(Math.abs(each.start - truth.sentences[index]!.words[0]!.start)).toBeLessThan(0.6)
    }
  },
)

test.skipIf(missing)(`the language of the result is the code in the request${skipped}`, async () => {
  expect((await hear(all(noise(1, 0.1)), { language: 'jv' })).language).toBe('jv')
})

const unserved: [string, string][] = [
  ['ast', 'No model here knows the language ast: run steno models pull omnilingual, and start steno again.'],
  ['yue', 'No model here knows the language yue: run steno models pull large-v3-turbo, and start steno with'],
]
test.skipIf(missing).each(unserved)(
  `a job in %s, which the model does not know, fails with the command to run${skipped}`,
  async (language, message) => {
    await expect(hear(all(noise(1, 0.1)), { language })).rejects.toMatchObject({
      code: 'PROCESSING_ERROR',
      message: expect.stringContaining(message),
    })
  },
)

test.skipIf(missing)(`the progress goes on in a long stretch without speech${skipped}`, async () => {
  const reached: number[] = []
  const listener = {
    onSamples: async (samples: number) => void reached.push(Math.round(samples / 16_000)),
    onWarning: () => {},
  }
  const minutes = new Float32Array(132 * 16_000)
  await transcribe(models, all(minutes), { ...input, language: 'en' }, listener)
  // Voice detection reads chunks of 64 s, which end at 64 s, 128 s and 132 s. The last 0.75 s of each chunk do not
  // count as processed yet. The reason is that speech may begin with the next chunk. The model then also reads up to
  // 0.75 s of sound before this speech. So the progress after the chunks is 63.25 s, 127.25 s and 131.25 s, here
  // rounded to seconds. The end of the recording (132 s) is reported twice: by the search for speech, and by
  // `transcribe`.
  expect(reached).toEqual([63, 127, 131, 132, 132])
})

test.skipIf(missing)(
  `the times in a warning about a section count from the start of the recording${skipped}`,
  async () => {
    const doubting = speaking('doubting', ['en'])
    doubting.start = () => ({
      rows: 1,
      warning: null,
      async hear(_, { listener }) {
        listener.onWarning('text doubtful', { from: 16_000, to: 3 * 16_000 })
        return { language: 'en', texts: [] }
      },
    })
    const asked = { language: 'en', section: { fromMs: 60_000, toMs: 64_000 } }
    const heard = await hear(sound(await truthOf('doctor')), asked, () => {}, {
      ...models,
      speech: [doubting],
    })
    expect(heard.warnings).toEqual(['The text may be wrong or incomplete at 61 to 63 s.'])
  },
)

test.skipIf(missing)(
  `a transcript with speakers carries the warning of the voice models${skipped}`,
  async () => {
    const told = { ...models, voices: { ...(models.voices as Voices), warning: 'Mind the voices.' } }
    const silence = { onSamples: async () => {}, onWarning: () => {} }
    const made = (diarize: boolean) => transcribe(told, all(noise(1, 0.1)), { ...input, diarize }, silence)
    expect((await made(true)).warnings).toEqual(['Mind the voices.'])
    expect((await made(false)).warnings).toEqual([])
  },
)

test.skipIf(missing)(
  `a speech model that is not in the catalogue gets speakers from the built-in voice models, and a warning${skipped}`,
  async () => {
    const builtIn = openVoices(runtime(), voicesFor('mine', '/nowhere') as VoiceFiles)
    const truth = await truthOf('en-two-voices')
    const listener = { onSamples: async () => {}, onWarning: () => {} }
    const asked = { ...input, diarize: true }
    const made = await transcribe({ ...models, voices: builtIn }, sound(truth), asked, listener)
    expect(made.speakers).toEqual(['SPEAKER 1', 'SPEAKER 2'])
    const pulls = 'steno models pull pyannote-segmentation-3.0 && steno models pull wespeaker-resnet34-LM'
    expect(made.warnings).toEqual([
      `The speakers were told apart by small models: run ${pulls} for better ones.`,
    ])
  },
)

test.skipIf(missing)(`diarization without its models is refused, not skipped${skipped}`, async () => {
  const bare = { ...models, voices: { problem: 'The voice models are missing' } }
  const silence = { onSamples: async () => {}, onWarning: () => {} }
  const asked = transcribe(bare, all(noise(1, 0.1)), { ...input, diarize: true }, silence)
  await expect(asked).rejects.toMatchObject({
    code: 'PROCESSING_ERROR',
    message: 'The voice models are missing',
  })
})

test.skipIf(missing)(
  `each word has its speaker, numbered in the order of first words${skipped}`,
  async () => {
    const truth = await truthOf('en-two-voices')
    const transcript = await hear(sound(truth), { diarize: true, speakerCount: 2 })
    expect(transcript.speakers).toEqual(['SPEAKER 1', 'SPEAKER 2'])
    expect(transcript.utterances[0]!.speaker).toBe('SPEAKER 1')
    for (const { speaker, words } of transcript.utterances)
      for (const word of words) expect(word.speaker).toBe(speaker!)
  },
)

test.skipIf(missing)(
  `if no words are recognised, there are no turns, although diarization finds a voice${skipped}`,
  async () => {
    const truth = await truthOf('doctor')
    const turnsOf = async (model: SpeechModel) => {
      const turns: SpeakerTurn[] = []
      const listener = {
        onSamples: async () => {},
        onWarning: () => {},
        onTurns: (found: SpeakerTurn[]) => void turns.push(...found),
      }
      const told = { ...models, speech: [model] as const }
      await transcribe(told, sound(truth), { ...input, language: 'en', diarize: true }, listener)
      return turns
    }
    expect((await turnsOf(speaking('word', ['en']))).map(({ speaker }) => speaker)).toContain('SPEAKER 1')
    const wordless = speaking('', ['en'])
    expect(await turnsOf(wordless)).toEqual([])
  },
)

test.skipIf(missing)(`a recording without samples has an empty transcript${skipped}`, async () => {
  expect(await hear(all(new Float32Array(0)))).toMatchObject({ full_transcript: '', duration_seconds: 0 })
})

/** Checks that words and utterances are in order, do not overlap, and end within the duration of the file. */
function expectOrder({ utterances, duration_seconds: duration }: Transcript): void {
  let before = 0
  for (const utterance of utterances) {
    expect(utterance.words[0]!.start).toBe(utterance.start)
    expect(utterance.words.at(-1)!.end).toBe(utterance.end)
    for (const { start, end, confidence } of utterance.words) {
      expect(start).toBeGreaterThanOrEqual(before)
      expect(end).toBeGreaterThan(start)
      expect(confidence).toBeWithin(0, 1.001)
      before = end
    }
  }
  expect(before).toBeLessThanOrEqual(duration)
}

/**
 * Returns a fake speech model. For all windows of sound that it gets in one call, it returns one text: its own name.
 */
function speaking(name: string, languages: string[], detected: string | null = null): SpeechModel {
  const say = (windows: readonly Window[], language: string | null) => ({
    language: language ?? detected ?? '',
    texts: windows.slice(0, 1).map(({ from, to }) => ({ text: name, from, to, probability: 1 })),
  })
  return {
    name,
    languages,
    translates: false,
    start: () => ({ rows: 1, warning: null, hear: async (windows, { language }) => say(windows, language) }),
    detect: detected === null ? null : async () => detected,
    close() {},
  }
}

test.skipIf(missing).each([
  ['zu', 'zu', 'omni'],
  ['a named language that both know', 'en', 'first'],
  ['no language, and the first model detects none', null, 'omni'],
])(`the first model that knows the language serves the job: %s${skipped}`, async (_, language, serves) => {
  const truth: Truth = await Bun.file(join(clips!, 'doctor.json')).json()
  const [first, omni] = [speaking('first', ['en']), speaking('omni', ['en', 'zu'])]
  const detector = speaking('detector', [], 'zu')
  const several = { ...models, speech: [first, omni] as const, detector }
  const transcript = await hear(sound(truth), { language }, () => {}, several)
  expect(transcript).toMatchObject({ model: serves, language: language ?? 'zu' })
  expect(transcript.full_transcript).toContain(serves)
  const unknown = hear(sound(truth), { language: 'ja' }, () => {}, several)
  await expect(unknown).rejects.toThrow('No model here knows the language ja')
  const alone = hear(sound(truth), { language: 'ast' }, () => {}, several)
  await expect(alone).rejects.toThrow('and start steno with STENO_MODEL=omnilingual.')
})

test.skipIf(missing)(
  `a model never gets more windows than it takes, also after detection${skipped}`,
  async () => {
    const doctor = await read(sound(await truthOf('doctor')))
    const [first, zulu] = [speaking('first', ['en']), speaking('zulu', ['zu'])]
    const several = { ...models, speech: [first, zulu] as const, detector: speaking('detector', [], 'zu') }
    first.start = () => ({ rows: 16, warning: null, hear: () => Promise.reject(new Error('not chosen')) })
    const counts: number[] = []
    const { start } = zulu
    zulu.start = context => {
      const { hear, ...started } = start(context)
      const counted: typeof hear = (windows, options) => {
        counts.push(windows.length)
        return hear(windows, options)
      }
      return { ...started, hear: counted }
    }
    await hear(all(withPause(doctor, doctor)), { language: null }, () => {}, several)
    expect(counts).toEqual([1, 1])
  },
)

test.skipIf(missing)(
  `a Chinese transcript and its live utterances are in the script of the first texts${skipped}`,
  async () => {
    const doctor = await read(sound(await truthOf('doctor')))
    const chinese = speaking('chinese', ['zh'], 'zh')
    const texts = ['这里说的是简体。', '這裡說的是繁體。'].values()
    chinese.start = () => ({
      rows: 1,
      warning: null,
      async hear(windows) {
        const text = texts.next().value ?? ''
        return { language: 'zh', texts: windows.map(({ from, to }) => ({ text, from, to, probability: 1 })) }
      },
    })
    const reported: Utterance[] = []
    const told = new Set<string>()
    const onUtterances = (utterances: Utterance[], language: string) => {
      reported.push(...utterances)
      told.add(language)
    }
    const transcript = await hear(all(withPause(doctor, doctor)), { language: null }, onUtterances, {
      ...models,
      speech: [chinese],
    })
    expect(transcript.full_transcript).toBe('这里说的是简体。这里说的是繁体。')
    expect(reported).toEqual(transcript.utterances)
    expect([...told]).toEqual(['zh'])
  },
)
