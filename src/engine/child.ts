// The engine's own process: loads one model on one device and works on one job at a time. It holds neither
// socket nor database; what it knows comes as messages, what it finds goes back as messages.

import { setPriority } from 'node:os'
import { dieWithParent } from '../base/parent.ts'
import { reasonOf } from '../base/reason.ts'
import { JobFailure } from '../errors.ts'
import { decode } from '../media/decode.ts'
import { seconds } from './audio.ts'
import { openModel } from './load.ts'
import type { Order, Report } from './protocol.ts'
import { type LoadedModels, transcribe } from './transcribe.ts'

const lowestPriority = 19
/** How often it says that it gets on; each time the event loop has its turn. */
const reportEveryMs = 250

export async function engine(): Promise<void> {
  setPriority(lowestPriority)
  process.on('disconnect', () => process.exit(0))
  // Ctrl-C on a terminal reaches the whole group; the supervisor decides when its children end.
  process.on('SIGINT', () => {})
  let models: LoadedModels | null = null
  let durationMsMax = 0
  for await (const order of orders()) {
    if (order.kind === 'load') {
      dieWithParent(order.parent)
      durationMsMax = order.durationMsMax
      try {
        const loaded = await openModel(order)
        models = loaded.models
        say({ kind: 'loaded', facts: loaded.facts })
      } catch (error) {
        say({ kind: 'cannotLoad', message: oneLine(error) })
      }
    } else if (models) {
      await work(models, order, durationMsMax)
    }
  }
}

async function work(
  models: LoadedModels,
  { id, input }: Order & { kind: 'job' },
  durationMsMax: number,
): Promise<void> {
  let reached = 0
  let said = 0
  const onSamples = async (samples: number) => {
    reached = Math.max(reached, samples)
    const now = performance.now()
    if (now - said < reportEveryMs) return
    said = now
    say({ kind: 'progress', id, seconds: seconds(reached) })
    await new Promise(resolve => setImmediate(resolve))
  }
  try {
    const stop = new AbortController()
    const sound = decode(input.path, { signal: stop.signal, durationMsMax })
    const transcript = await transcribe(models, sound, input, {
      onSamples,
      onWarning: (event, fields) => say({ kind: 'warning', id, event, fields }),
    })
    say({ kind: 'done', id, transcript })
  } catch (error) {
    // Anything else is a fault of ours or of the machine: leaving gives the job a fresh process for its retry.
    if (!(error instanceof JobFailure)) throw error
    say({ kind: 'failed', id, code: error.code, message: error.message })
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

function say(report: Report): void {
  process.send!(report)
}

function oneLine(error: unknown): string {
  const message = reasonOf(error)
  return message.split('\n')[0]!.slice(0, 300)
}
