// Runs one job in the engine process. Decodes the media file, and transcribes each channel or the mix of all channels.
// Reports the progress and the transcript to the parent process.

import { nextTurn } from '../base/next-turn.ts'
import type { Config } from '../config.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { decode } from '../media/decode.ts'
import type { Transcript, Utterance } from '../transcripts/transcript.ts'
import { cutSection, sampleRate, seconds } from './audio.ts'
import { mergeChannels, mergePeaks, turnsOfChannels, wrongLanguages } from './channels.ts'
import { OneScript } from './chinese/one-script.ts'
import { type Crosstalk, findCrosstalk } from './crosstalk/find-crosstalk.ts'
import { withoutCrosstalk } from './crosstalk/mute.ts'
import type { LoadedModels } from './loaded-models.ts'
import { nameSpeakers } from './names.ts'
import { Peaks } from './peaks.ts'
import type { Order } from './protocol.ts'
import { send, sendTranscript } from './reports.ts'
import { inSeconds } from './speech-warnings.ts'
import { type TranscribeListener, transcribe } from './transcribe.ts'

/** The settings with which this process reads media files: the maximum duration, and the path of the media program. */
export type Reading = Pick<Config, 'durationMsMax' | 'mediaProgram'>

type JobOrder = Order & { kind: 'job' }

export async function work(models: LoadedModels, order: JobOrder, reading: Reading): Promise<void> {
  const { id, input, wantsTurns } = order
  const channels = input.channels ?? null
  const progress = new Progress(order)
  const onUtterances = utteranceReports(id)
  const open = (channel?: number) => {
    const signal = new AbortController().signal
    // If the job has a section, `durationMs` is the duration of the section, not of the file. So `decode` gets no
    // duration to compare with the length of the decoded sound, and does not check this length.
    const measuredMs = input.section ? undefined : input.durationMs
    const sound = decode(input.path, { ...reading, signal, channel, measuredMs })
    const reported = withCalls(sound, () => progress.report(0))
    return cutSection(reported, input.section)
  }
  const script = new OneScript(input)
  const hear = async ({ listener: own, channel, crosstalk, language = input.language }: HearOptions) => {
    const peaks = new Peaks()
    const sound = peaks.of(open(channel))
    const heard = crosstalk ? withoutCrosstalk(sound, crosstalk) : sound
    const listener: TranscribeListener = {
      onSamples: samples => progress.report(samples),
      onWarning(event, span) {
        const { from, to } = inSeconds(span, input.section?.fromMs ?? 0)
        send({ kind: 'warning', id, event, fields: { from_second: from, to_second: to } })
      },
      ...(wantsTurns ? { onTurns: turns => send({ kind: 'turns', id, turns }) } : {}),
      ...own,
    }
    const transcript = await transcribe(models, heard, { ...input, language }, listener, script)
    return { transcript, peaks: peaks.bytes() }
  }
  try {
    const heard: Recognised =
      channels === null
        ? [await hear({ listener: { onUtterances } })]
        : await hearChannels(channels, input.language, { open, hear, progress })
    const transcript = channels === null ? heard[0].transcript : mergeChannels(transcriptsOf(heard))
    if (channels !== null) {
      onUtterances(transcript.utterances, transcript.language)
      if (wantsTurns) send({ kind: 'turns', id, turns: turnsOfChannels(transcript) })
    }
    send({ kind: 'peaks', id, peaks: mergePeaks(heard.map(({ peaks }) => peaks)) })
    sendTranscript(id, await nameSpeakers(models.voices, transcript, input.knownVoices ?? [], open))
  } catch (error) {
    // An error that is not a JobFailure is a fault of the program or of the machine. Such an error ends this process
    // (see `endByFault`).
    if (!(error instanceof JobFailure)) throw error
    send({ kind: 'failed', id, code: error.code, message: error.message })
  }
}

type HearOptions = {
  /** Callbacks that replace those of the job. */
  listener?: Partial<TranscribeListener>
  /** The number of the channel, counted from 1. If it is missing, the mix of all channels is transcribed. */
  channel?: number
  crosstalk?: Crosstalk | undefined
  /** The language of the channel. By default, the language that the caller gave, if any. */
  language?: string | null
}

type Heard = { transcript: Transcript; peaks: Uint8Array }
/** The result for each channel, or for the mix of all channels. */
type Recognised = [Heard, ...Heard[]]

type ChannelSteps = {
  open: (channel: number) => AsyncIterable<Float32Array>
  hear: (options: HearOptions) => Promise<Heard>
  progress: Progress
}

/**
 * Transcribes each channel. A channel with little speech is transcribed again if its detected language is probably
 * wrong. `given` is the language that the caller gave, or null.
 */
async function hearChannels(
  count: number,
  given: string | null,
  { open, hear, progress }: ChannelSteps,
): Promise<Recognised> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const crosstalk = count > 1 ? await findCrosstalk(numbers.map(open)) : []
  const heard: Recognised = [await hear({ channel: 1, crosstalk: crosstalk[0] })]
  for (const channel of numbers.slice(1)) {
    progress.channelEnded()
    heard.push(await hear({ channel, crosstalk: crosstalk[channel - 1] }))
  }
  if (given !== null) return heard
  const { channels, language } = wrongLanguages(transcriptsOf(heard))
  // The channels with a wrong language are transcribed again. The progress has already reached the end of the
  // recording, and it never goes back. `report(0)` therefore reports the end again, as a sign that the work continues.
  const listener = { onSamples: () => progress.report(0) }
  for (const index of channels)
    heard[index] = await hear({ listener, channel: index + 1, crosstalk: crosstalk[index], language })
  return heard
}

function transcriptsOf([first, ...others]: Readonly<Recognised>): [Transcript, ...Transcript[]] {
  return [first.transcript, ...others.map(({ transcript }) => transcript)]
}

/** Reports the progress of a job, at most once in `engineReportEveryMs`. */
class Progress {
  readonly #order: JobOrder
  #endedChannels = 0
  /** The progress so far, in samples: the mean of the positions that the transcription has reached in the channels. */
  #reached = 0
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(order: JobOrder) {
    this.#order = order
  }

  /** Reports that the transcription has reached `samples` in a channel, or in the mix of all channels. */
  async report(samples: number): Promise<void> {
    const { id, input } = this.#order
    const ended = this.#endedChannels * Math.max(samples, (input.durationMs / 1000) * sampleRate)
    this.#reached = Math.max(this.#reached, (ended + samples) / (input.channels ?? 1))
    const now = performance.now()
    if (now - this.#reportedAt < limits.engineReportEveryMs) return
    this.#reportedAt = now
    send({ kind: 'progress', id, seconds: seconds(this.#reached) })
    await nextTurn()
  }

  /** Counts a channel as ended, for the progress. Must be called before the transcription of the next channel. */
  channelEnded(): void {
    this.#endedChannels += 1
  }
}

/** Returns a function that sends the next complete utterances of a job to the parent process. */
function utteranceReports(id: number): (utterances: Utterance[], language: string) => void {
  let first = 0
  return (utterances, language) => {
    if (utterances.length === 0) return
    send({ kind: 'utterances', id, first, utterances, language })
    first += utterances.length
  }
}

/**
 * Yields the sound unchanged, and calls `onPart` before each part. The parent process kills this process if it gets no
 * progress reports for a while. So `onPart` sends reports while no other code does, for example while the sound before
 * a section is skipped.
 */
async function* withCalls(
  sound: AsyncIterable<Float32Array>,
  onPart: () => Promise<void>,
): AsyncGenerator<Float32Array> {
  for await (const part of sound) {
    await onPart()
    yield part
  }
}
