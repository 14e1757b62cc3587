// A service in a separate process, for tests and benches with workers. It believes the duration that a media file states.

import { setLogFormat } from '../../src/base/log.ts'
import { readConfig } from '../../src/config.ts'
import { startService } from '../../src/service.ts'
import { statedMedia } from './media.ts'

if (process.env.STENO_LOG === 'json') setLogFormat('json', 'warn')
const { listening } = await startService(readConfig(process.env), { media: statedMedia })
console.log(listening)
