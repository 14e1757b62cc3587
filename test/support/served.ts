// Runs a service in a process of its own, for tests that kill this process. Its fake engine ends each job after a short
// random time. The command `served` of the executable that is compiled for the tests runs this file.

import { readConfig } from '../../src/config.ts'
import { startService } from '../../src/service.ts'
import { steeredEngine, transcriptOf } from './engine.ts'
import { statedMedia } from './media.ts'
import { seeded } from './random.ts'

const engine = steeredEngine({ capacity: 2 })
const random = seeded(Number(process.env.TEST_SEED))
const { listening } = await startService(readConfig(process.env), {
  media: statedMedia,
  engine: {
    ...engine,
    transcribe: (input, { signal }) =>
      new Promise((resolve, reject) => {
        const end = () => resolve(transcriptOf(input, 'Hello there.'))
        const timer = setTimeout(end, random.below(60))
        signal.addEventListener('abort', () => {
          clearTimeout(timer)
          reject(signal.reason)
        })
      }),
  },
})
console.log(listening)
