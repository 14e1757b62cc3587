// The engine process: loads models, and runs all its jobs at the same time. It opens no network connection and no
// database. It receives orders from its parent process and sends reports back, both as IPC messages. The parent process
// is the server, or a command such as `steno transcribe`.

import { getPriority, setPriority } from 'node:os'
import { passLogTo } from '../base/log.ts'
import { dieWithParent } from '../base/parent.ts'
import { firstLineOf } from '../base/reason.ts'
import { limits } from '../limits.ts'
import { confineEngine, type EngineRights } from './confine.ts'
import { type Reading, work } from './job.ts'
import { openModel } from './load.ts'
import type { LoadedModels } from './loaded-models.ts'
import { makeCompact } from './network/make-compact.ts'
import { makePrint } from './print.ts'
import type { Order } from './protocol.ts'
import { send } from './reports.ts'

export async function engine(): Promise<void> {
  // Of two nice values, the larger one is the lower priority. Only root may raise a priority, so a process that already
  // has a lower priority than `engineNice` keeps this priority.
  setPriority(Math.max(limits.engineNice, getPriority()))
  process.on('disconnect', () => process.exit(0))
  process.on('uncaughtException', endByFault)
  process.on('unhandledRejection', endByFault)
  passLogTo(event => send({ kind: 'log', ...event }))
  let models: LoadedModels | null = null
  let reading: Reading = { durationMsMax: 0, mediaProgram: null }
  for await (const order of orders()) {
    if ('parent' in order) {
      dieWithParent(order.parent)
      confineEngine(rightsFor(order))
    }
    if (order.kind === 'load') {
      reading = order
      try {
        const loaded = await openModel(order)
        models = loaded.models
        send({ kind: 'loaded', facts: loaded.facts })
      } catch (error) {
        send({ kind: 'cannotLoad', message: firstLineOf(error).slice(0, 300) })
      }
    } else if (order.kind === 'print') {
      send(await makePrint(order))
    } else if (order.kind === 'compact') {
      send(await makeCompact(order))
    } else if (models) {
      work(models, order, reading).catch(endByFault)
    }
  }
}

/**
 * Returns the rights that this process needs, for example to read the folder of the model. `order` is the first order
 * (an IPC message) from the parent process. Only the first order has the field `parent`, the process id of the parent
 * process.
 */
function rightsFor(order: Extract<Order, { parent: number }>): EngineRights {
  if (order.kind === 'load') return order
  return { ...order, device: 'cpu', ...(order.kind === 'compact' ? { writes: order.draft } : {}) }
}

/** Prints the error and ends this engine process. */
function endByFault(error: unknown): never {
  // `reportError` prints nothing while `uncaughtException` has handlers.
  process.removeAllListeners('uncaughtException')
  reportError(error)
  // `reportError` itself ends the process only after an uncaught exception. After an unhandled rejection, or an error
  // in `work`, Bun would continue the process, so it is ended here.
  process.exit(1)
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
