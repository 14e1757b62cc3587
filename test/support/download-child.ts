// Downloads each address given, one after another, and prints the highest memory use after each, in bytes.

import { readFileSync } from 'node:fs'
import { download } from '../../src/net/download.ts'
import { parseNets } from '../../src/net/nets.ts'

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

/** Not resourceUsage(): its peak is inherited from the process that started this one. */
function peakBytes(): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
