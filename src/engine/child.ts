// The engine process. It loads one model on one device and runs one job at a time. It opens no network
// connection and no database. It receives orders and sends reports as IPC messages.

import { setPriority } from 'node:os'
import { dieWithParent } from '../base/parent.ts'
import { firstLineOf } from '../base/reason.ts'
import type { Config } from '../config.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { decode } from '../media/decode.ts'
import type { Utterance } from '../transcripts/transcript.ts'
import { cutSection, seconds } from './audio.ts'
import { confineEngine } from './confine.ts'
import { openModel } from './load.ts'
import { Peaks } from './peaks.ts'
import type { Order, Report } from './protocol.ts'
import { type LoadedModels, transcribe } from './transcribe.ts'

const lowestPriority = 19

/** The settings with which this process reads media files. */
type Reading = Pick<Config, 'durationMsMax' | 'mediaProgram'>

export async function engine(): Promise<void> {
  setPriority(lowestPriority)
  process.on('disconnect', () => process.exit(0))
  // Ignores SIGINT, which Ctrl-C in a terminal sends to the whole process group. The supervisor decides when
  // its workers end.
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
  let reached = 0
  let reportedAt = 0
  const onSamples = async (samples: number) => {
    reached = Math.max(reached, samples)
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
  try {
    const stop = new AbortController()
    const sound = cutSection(decode(input.path, { ...reading, signal: stop.signal }), input.section)
    const peaks = new Peaks()
    const transcript = await transcribe(models, peaks.of(sound), input, {
      onSamples,
      onUtterances,
      onWarning: (event, fields) => send({ kind: 'warning', id, event, fields }),
    })
    send({ kind: 'peaks', id, peaks: peaks.bytes() })
    send({ kind: 'done', id, transcript })
  } catch (error) {
    // An error of another class is a defect of the program or of the machine. It ends this process, and the
    // supervisor retries the job in a new process.
    if (!(error instanceof JobFailure)) throw error
    send({ kind: 'failed', id, code: error.code, message: error.message })
  }
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
