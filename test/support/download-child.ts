// Downloads each address given, one after another, and prints the highest memory use after each, in bytes.

import { download } from '../../src/net/download.ts'
import { parseNets } from '../../src/net/nets.ts'
import { ca } from './hostile-server.ts'

const [path = '', ...addresses] = process.argv.slice(2)
for (const address of addresses) {
  await download(address, path, {
    bytesMax: 1024 ** 3,
    allowNets: parseNets('127.0.0.0/8')!,
    resolve: async () => ['127.0.0.1'],
    ca,
    signal: new AbortController().signal,
  })
  console.log(process.resourceUsage().maxRSS * 1024)
}
