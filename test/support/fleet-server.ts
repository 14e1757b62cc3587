// A service in a process of its own, for tests and benchmarks with workers. The service does not inspect media: it
// reads the duration from the text in a fake media file.

import { setLogFormat } from '../../src/base/log.ts'
import { dieWithParent } from '../../src/base/parent.ts'
import { readConfig } from '../../src/config.ts'
import { startService } from '../../src/service.ts'
import { statedMedia } from './media.ts'

dieWithParent(Number(process.env.TEST_PARENT))
if (process.env.STENO_LOG === 'json') setLogFormat('json', 'warn')
const { listening } = await startService(readConfig(process.env), { media: statedMedia })
console.log(listening)
