// Runs `work`, which does one job in the engine process, with a fake speech model. The messages to the server are
// collected.

import { expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import type { SpeechModel } from '../../src/engine/hear/speech-model.ts'
import { work } from '../../src/engine/job.ts'
import { type LoadedModels, openModels } from '../../src/engine/loaded-models.ts'
import { vadModel } from '../../src/engine/onnx/library.ts'
import type { Report } from '../../src/engine/protocol.ts'
import type { TranscribeInput } from '../../src/engine/request.ts'
import { Diarization } from '../../src/engine/who/diarize.ts'
import { limits } from '../../src/limits.ts'
import { decode } from '../../src/media/decode.ts'
import { clips, runtime, unless, voices } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openedVoices } from '../support/opened-models.ts'
import { plainInput } from '../support/plain-input.ts'
import { readSound } from '../support/read-sound.ts'
import { wavFile, wavHeader } from '../support/sound.ts'

const skipped = unless(clips, 'clips')
const reading = { durationMsMax: 60_000, mediaProgram: null }

/** Writes a WAV file with two channels. Both channels have the sound of the file at `path`. */
async function stereoOf(path: string): Promise<string> {
  const samples: number[] = []
  for await (const part of decode(path, { ...reading, signal: new AbortController().signal }))
    for (const sample of part) samples.push(Math.round(sample * 32_000), Math.round(sample * 32_000))
  const bytes = Int16Array.from(samples)
  const header = wavHeader(bytes.byteLength, { sampleRate: 16_000, channels: 2, bytesPerSample: 2 })
  const stereo = join(temporaryFolder(), 'stereo.wav')
  await Bun.write(stereo, new Blob([header, bytes]))
  return stereo
}

/** Returns a fake model for Chinese. Each call of `hear` returns the next element of `texts`, split at each `|`. */
function writing(texts: readonly string[]): SpeechModel {
  const next = texts.values()
  return {
    name: 'writing',
    languages: ['zh'],
    translates: false,
    start: () => ({
      rows: 100,
      warning: null,
      hear: async ([window]) => {
        const { from, to } = window ?? { from: 0, to: 0 }
        const heard = (next.next().value ?? '').split('|')
        return { language: 'zh', texts: heard.map(text => ({ text, from, to, probability: 1 })) }
      },
    }),
    detect: null,
    close() {},
  }
}

/** Does a job, and returns the messages that the engine process sends. */
async function reportsOf(
  model: SpeechModel,
  input: TranscribeInput,
  { wantsTurns = false, voices = { problem: 'no voice models' } as LoadedModels['voices'] } = {},
): Promise<Report[]> {
  const reports: Report[] = []
  const send = process.send
  process.send = (report: Report) => reports.push(report) > 0
  try {
    const vad = await Bun.file(vadModel()).bytes()
    const models = openModels(runtime(), [model], vad, voices)
    await work(models, { kind: 'job', id: 1, input, wantsTurns }, reading)
  } finally {
    if (send) process.send = send
    else delete process.send
  }
  return reports
}

async function writeSilence(seconds: number): Promise<string> {
  const silence = new Int16Array(seconds * 16_000)
  const header = wavHeader(silence.byteLength, { sampleRate: 16_000, channels: 1, bytesPerSample: 2 })
  const path = join(temporaryFolder(), 'silence.wav')
  await Bun.write(path, new Blob([header, silence]))
  return path
}

test('a job reports while it reads sound without speech, so that it is not killed', async () => {
  const path = await writeSilence(5)
  const reports = await reportsOf(writing([]), plainInput({ path, language: 'zh' }))
  const reached = reports.flatMap(report => (report.kind === 'progress' ? [report.seconds] : []))
  // The first report comes while the file is being read, before the transcription. This report has the position 0.
  expect(reached[0]).toBe(0)
})

test('a job fails if its file has much more sound than was measured, unless it transcribes only a section', async () => {
  const path = await writeSilence(20)
  const lastOf = async (own: Partial<TranscribeInput>) =>
    (await reportsOf(writing([]), plainInput({ path, language: 'zh', ...own }))).at(-1)
  expect(await lastOf({ durationMs: 5000 })).toMatchObject({ kind: 'failed', code: 'INVALID_MEDIA_FORMAT' })
  const section = { fromMs: 14_000, toMs: 19_000 }
  expect(await lastOf({ durationMs: 5000, section })).toMatchObject({ kind: 'done' })
})

test('a translation is done by a model that can translate, in English, with the warning of the model', async () => {
  const input = plainInput({ path: await writeSilence(1), language: 'zh', translate: true })
  expect((await reportsOf(writing([]), input)).at(-1)).toMatchObject({ kind: 'failed' })
  const plain = writing([])
  const start: SpeechModel['start'] = context => ({ ...plain.start(context), warning: 'mind this' })
  const reports = await reportsOf({ ...plain, start, translates: true }, input)
  expect(reports.at(-1)).toMatchObject({ transcript: { language: 'en', warnings: ['mind this'] } })
})

test.skipIf(!clips)(
  `utterances that are reported during a job have their places in the transcript${skipped}`,
  async () => {
    const spoken = (await readSound(join(clips ?? '', 'doctor.flac'))).subarray(0, 2 * 16_000)
    // Pauses of more than ten seconds divide the sound into windows. The model recognises one window at a time.
    const step = spoken.length + 11 * 16_000
    const samples = new Int16Array(3 * step)
    for (const start of [0, step, 2 * step])
      samples.set(
        Int16Array.from(spoken, each => each * 32_000),
        start,
      )
    const path = join(temporaryFolder(), 'three.wav')
    await Bun.write(path, wavFile(samples))
    const model = writing(['一。', '二。|三。|四。', '五。'])
    const start: SpeechModel['start'] = context => ({ ...model.start(context), rows: 1 })
    const reports = await reportsOf(
      { ...model, start },
      plainInput({ path, language: 'zh', durationMs: 60_000 }),
    )
    const places = reports.flatMap(report =>
      report.kind === 'utterances' ? [[report.first, report.utterances.map(({ text }) => text)]] : [],
    )
    expect(places).toEqual([
      [0, ['一。', '二。', '三。']],
      [3, ['四。']],
      [4, ['五。']],
    ])
  },
)

test.skipIf(!clips)(
  `all channels of a Chinese recording are in one script, and count equally in the progress${skipped}`,
  async () => {
    const path = await stereoOf(join(clips ?? '', 'doctor.flac'))
    const model = writing(['这里说的是简体。', '這裡說的是繁體。'])
    let now = 0
    using _clock = spyOn(performance, 'now').mockImplementation(() => (now += limits.engineReportEveryMs))
    const durationMs = 4083
    const reports = await reportsOf(model, plainInput({ path, language: 'zh', channels: 2, durationMs }))
    const reached = reports.flatMap(report => (report.kind === 'progress' ? [report.seconds] : []))
    expect(reached).toEqual(reached.toSorted((one, other) => one - other))
    expect(reached.at(-1)).toBeCloseTo(durationMs / 1000, 1)
    const done = reports.find(report => report.kind === 'done')
    expect(done?.transcript.full_transcript).toBe('这里说的是简体。这里说的是繁体。')
    const utterances = reports.flatMap(report => (report.kind === 'utterances' ? report.utterances : []))
    expect(utterances.map(({ speaker, text }) => [speaker, text])).toEqual([
      ['SPEAKER 1', '这里说的是简体。'],
      ['SPEAKER 2', '这里说的是繁体。'],
    ])
  },
)

test.skipIf(!clips)(
  `a channel with little speech is heard again in the language of the longest text${skipped}`,
  async () => {
    const path = await stereoOf(join(clips ?? '', 'en-edges.flac'))
    const spoken = [
      { language: 'ar', text: 'نعم.', seconds: 1 },
      { language: 'en', text: 'A long text in English.', seconds: 5.5 },
      { language: 'en', text: 'Yes.', seconds: 1 },
    ].values()
    const asked: (string | null)[] = []
    const model = writing([])
    const start: SpeechModel['start'] = context => ({
      ...model.start(context),
      hear: async (_, options) => {
        asked.push(options.language)
        const { language, text, seconds } = spoken.next().value ?? { language: '', text: '', seconds: 0 }
        return { language, texts: [{ text, from: 0, to: seconds * 16_000, probability: 1 }] }
      },
    })
    const detecting = { ...model, languages: ['ar', 'en'], detect: async () => 'en', start }
    const reports = await reportsOf(detecting, plainInput({ path, channels: 2, durationMs: 5600 }))
    const utterances = reports.flatMap(report => (report.kind === 'utterances' ? report.utterances : []))
    expect(utterances.map(({ speaker, text }) => [speaker, text])).toEqual([
      ['SPEAKER 1', 'Yes.'],
      ['SPEAKER 2', 'A long text in English.'],
    ])
    expect(asked).toEqual([null, null, 'en'])
    for (const report of reports)
      if (report.kind === 'progress') expect(report.seconds).toBeLessThanOrEqual(5.7)
  },
)

test.skipIf(!clips)(
  `the utterances of separate channels are the turns, if the turns are wanted${skipped}`,
  async () => {
    const path = await stereoOf(join(clips ?? '', 'doctor.flac'))
    const input = plainInput({ path, language: 'zh', channels: 2 })
    const turnsIn = (reports: Report[]) => reports.filter(report => report.kind === 'turns')
    const reports = await reportsOf(writing(['一。', '二。']), input, { wantsTurns: true })
    const [utterances] = reports.flatMap(report => (report.kind === 'utterances' ? [report.utterances] : []))
    expect(utterances?.map(({ speaker }) => speaker)).toEqual(['SPEAKER 1', 'SPEAKER 2'])
    expect(turnsIn(reports)).toEqual([
      {
        kind: 'turns',
        id: 1,
        turns: utterances!.map(({ start, end, speaker }) => ({ start, end, speaker: speaker! })),
      },
    ])
    expect(turnsIn(await reportsOf(writing(['一。', '二。']), input))).toEqual([])
  },
)

test.skipIf(!clips || !voices)(
  `the turns of the diarization are reported only if they are wanted${unless(clips && voices && 'here', 'clips with voice models')}`,
  async () => {
    const path = join(clips ?? '', 'doctor.flac')
    const input = plainInput({ path, language: 'zh', diarize: true, speakerCount: 3 })
    using finish = spyOn(Diarization.prototype, 'finish')
    for (const wantsTurns of [true, false]) {
      const reports = await reportsOf(writing(['一。']), input, {
        wantsTurns,
        voices: openedVoices('pocket'),
      })
      const done = reports.find(report => report.kind === 'done')
      expect(done?.transcript.speakers).toEqual(['SPEAKER 1'])
      expect(reports.some(report => report.kind === 'turns')).toBe(wantsTurns)
      expect(finish).toHaveBeenLastCalledWith(3)
    }
  },
)
