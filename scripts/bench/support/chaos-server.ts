// A service with a simulated engine, in a separate process, for the chaos benchmark. Each step of a job takes a random
// time. A message from the parent process is a number of milliseconds: the difference between the clock of the service
// and the real time.

import { setLogFormat } from '../../../src/base/log.ts'
import { readConfig } from '../../../src/config.ts'
import { startService } from '../../../src/service.ts'
import { steeredEngine, transcriptOf } from '../../../test/support/engine.ts'
import { statedMedia } from '../../../test/support/media.ts'
import { seeded } from '../../../test/support/random.ts'

if (process.env.STENO_LOG === 'json') setLogFormat('json')
let clockStepMs = Number(process.env.TEST_CLOCK_STEP)
process.on('message', (stepMs: number) => {
  clockStepMs = stepMs
})
const random = seeded(Number(process.env.TEST_SEED))

const { listening } = await startService(readConfig(process.env), {
  clock: () => Date.now() + clockStepMs,
  media: {
    async inspect(path, options) {
      await moment(60, options.signal)
      return statedMedia.inspect(path, options)
    },
  },
  engine: {
    ...steeredEngine({ capacity: 3 }),
    async transcribe(input, { signal }) {
      await moment(160, signal)
      return transcriptOf(input, 'Hello there.')
    },
  },
})
console.log(listening)

function moment(msMax: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, random.below(msMax))
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
