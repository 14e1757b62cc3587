// The engine process. It loads its models on one device, and runs one job at a time. It opens no network connection and
// no database. It receives orders from the server and sends reports to the server, both as IPC messages.

import { getPriority, setPriority } from 'node:os'
import { dieWithParent } from '../base/parent.ts'
import { firstLineOf } from '../base/reason.ts'
import type { Config } from '../config.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { decode } from '../media/decode.ts'
import type { Transcript, Utterance } from '../transcripts/transcript.ts'
import { cutSection, sampleRate, seconds } from './audio.ts'
import { mergeChannels, mergePeaks } from './channels.ts'
import { confineEngine } from './confine.ts'
import { openModel } from './load.ts'
import { nameSpeakers } from './names.ts'
import { makeCompact } from './network/make-compact.ts'
import { Peaks } from './peaks.ts'
import { makePrint } from './print.ts'
import type { Order, Report } from './protocol.ts'
import { type LoadedModels, type TranscribeListener, transcribe } from './transcribe.ts'

/** The settings with which this process reads media files: the maximum duration, and the path of the media program. */
type Reading = Pick<Config, 'durationMsMax' | 'mediaProgram'>

export async function engine(): Promise<void> {
  // A process may lower its priority, but it may not raise it. If the server was started by `nice -n 15`, this process
  // already has a lower priority than `engineNice`, and keeps it.
  setPriority(Math.max(limits.engineNice, getPriority()))
  process.on('disconnect', () => process.exit(0))
  // Ignores SIGINT. Ctrl-C in a terminal sends SIGINT to all processes of the program, but only the supervisor decides
  // when an engine process ends.
  process.on('SIGINT', () => {})
  let models: LoadedModels | null = null
  let reading: Reading = { durationMsMax: 0, mediaProgram: null }
  for await (const order of orders()) {
    if (order.kind === 'load') {
      dieWithParent(order.parent)
      confineEngine(order)
      reading = order
      try {
        const loaded = await openModel(order)
        models = loaded.models
        send({ kind: 'loaded', facts: loaded.facts })
      } catch (error) {
        send({ kind: 'cannotLoad', message: firstLineOf(error).slice(0, 300) })
      }
    } else if (order.kind === 'print') {
      dieWithParent(order.parent)
      confineEngine({ dataDir: order.dataDir, device: 'cpu' })
      send(await makePrint(order))
    } else if (order.kind === 'compact') {
      dieWithParent(order.parent)
      confineEngine({ dataDir: order.dataDir, device: 'cpu', writes: order.draft })
      send(await makeCompact(order))
    } else if (models) {
      await work(models, order, reading)
    }
  }
}

async function work(
  models: LoadedModels,
  { id, input }: Order & { kind: 'job' },
  reading: Reading,
): Promise<void> {
  const channels = input.channels ?? null
  /** The number of channels whose transcription has ended. */
  let done = 0
  let reached = 0
  let reportedAt = 0
  const onSamples = async (samples: number) => {
    const ended = done * Math.max(samples, (input.durationMs / 1000) * sampleRate)
    reached = Math.max(reached, (ended + samples) / (channels ?? 1))
    const now = performance.now()
    if (now - reportedAt < limits.engineReportEveryMs) return
    reportedAt = now
    send({ kind: 'progress', id, seconds: seconds(reached) })
    await new Promise(resolve => setImmediate(resolve))
  }
  let utterancesSent = 0
  const onUtterances = (utterances: Utterance[]) => {
    if (utterances.length === 0) return
    send({ kind: 'utterances', id, first: utterancesSent, utterances })
    utterancesSent += utterances.length
  }
  const open = (channel?: number) => {
    const signal = new AbortController().signal
    const sound = decode(input.path, { ...reading, signal, ...(channel === undefined ? {} : { channel }) })
    return cutSection(sound, input.section)
  }
  const hear = async (listener: Partial<TranscribeListener>, channel?: number) => {
    const peaks = new Peaks()
    const transcript = await transcribe(models, peaks.of(open(channel)), input, {
      onSamples,
      onWarning: (event, fields) => send({ kind: 'warning', id, event, fields }),
      ...listener,
    })
    return { transcript, peaks: peaks.bytes() }
  }
  try {
    const first = await hear(channels === null ? { onUtterances } : {}, channels === null ? undefined : 1)
    const heard: [typeof first, ...(typeof first)[]] = [first]
    for (done = 1; done < (channels ?? 1); done++) heard.push(await hear({}, done + 1))
    const [whole, ...others] = heard.map(({ transcript }) => transcript)
    const transcript = channels === null || !whole ? first.transcript : mergeChannels([whole, ...others])
    if (channels !== null) onUtterances(transcript.utterances)
    send({ kind: 'peaks', id, peaks: mergePeaks(heard.map(({ peaks }) => peaks)) })
    sendTranscript(id, await nameSpeakers(models.voices, transcript, input.knownVoices ?? [], open))
  } catch (error) {
    // If the error is not a JobFailure, it is a fault of the program or of the machine. It is thrown again, which ends
    // this process. The supervisor then retries the job in another process.
    if (!(error instanceof JobFailure)) throw error
    send({ kind: 'failed', id, code: error.code, message: error.message })
  }
}

/**
 * Sends the transcript in several small messages. The server decodes each message in one step, and its event loop waits
 * during this step. For the transcript of ten hours of speech, the longest wait is 8 ms with small messages, and 65 ms
 * with a single message.
 */
function sendTranscript(id: number, { utterances, ...head }: Transcript): void {
  for (let at = 0; at < utterances.length; at += limits.enginePartUtterances)
    send({ kind: 'part', id, utterances: utterances.slice(at, at + limits.enginePartUtterances) })
  send({ kind: 'done', id, transcript: { ...head, utterances: [] } })
}

async function* orders(): AsyncGenerator<Order> {
  const waiting: Order[] = []
  let wake = () => {}
  process.on('message', (order: Order) => {
    waiting.push(order)
    wake()
  })
  for (;;) {
    const order = waiting.shift()
    if (order) yield order
    else await new Promise<void>(resolve => (wake = resolve))
  }
}

function send(report: Report): void {
  process.send?.(report)
}
