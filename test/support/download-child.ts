// Downloads from the given addresses, one after the other. After each download, prints the peak memory of the process
// in bytes.

import { readFileSync } from 'node:fs'
import { download } from '../../src/net/download.ts'
import { parseNets } from '../../src/net/nets.ts'
import { peakBytes } from './peak.ts'

const ca = readFileSync(new URL('../fixtures/tls/ca.pem', import.meta.url), 'utf8')
const [path = '', ...addresses] = process.argv.slice(2)
for (const address of addresses) {
  await download(address, path, {
    bytesMax: 1024 ** 3,
    allowNets: parseNets('127.0.0.0/8')!,
    resolve: async () => ['127.0.0.1'],
    ca,
    signal: new AbortController().signal,
  })
  console.log(peakBytes())
}
