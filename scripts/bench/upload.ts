// Uploads a file to a signed address (an upload URL that needs no API key). Then uploads four smaller files
// simultaneously, each a tenth of the size. Then sends the first file as a resumable upload, and in a form to the
// OpenAI-compatible endpoint. Measures the speed, the CPU time and the memory growth of the server.
// STENO_BENCH_MEGABYTES is the size of the first file. The file is smaller if the disk has too little space.

import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { formatSize } from '../../src/base/units.ts'
import { readConfig } from '../../src/config.ts'
import { type Pouring, pour } from '../../test/support/pour.ts'
import { cpuSeconds, memory, prepareData, serve } from '../../test/support/server.ts'

export const bench = { name: 'Uploads: memory and speed', run }

const chunkBytes = 4 * 1024 ** 2
const wantedBytes = Number(process.env.STENO_BENCH_MEGABYTES ?? 512) * 1024 ** 2

async function run(): Promise<string[][]> {
  const rows = [['upload', 'seconds', 'MB per second', 'CPU s', 'idle MB', 'peak MB', 'growth MB']]
  const { bavail, bsize } = statfsSync(tmpdir())
  const room = Math.floor((bavail * bsize * 0.8) / chunkBytes) * chunkBytes
  const bytes = Math.min(wantedBytes, readConfig({}).fileBytesMax, room)
  rows.push(await measure(formatSize(bytes), [bytes]))
  rows.push(await measure('4 at once of a tenth each', Array(4).fill(Math.floor(bytes / 10))))
  rows.push(await measure(`${formatSize(bytes)}, resumable`, [bytes], 'patch'))
  rows.push(await measure(`${formatSize(bytes)}, in a form`, [bytes], 'form'))
  return rows
}

async function measure(name: string, sizes: number[], way: Pouring['way'] = 'put'): Promise<string[]> {
  const data = prepareData()
  const server = await serve(data)
  try {
    // The first request to a server takes longer, so a small upload is sent before the measurement.
    await pour({ port: server.port, key: data.key, bytes: chunkBytes })
    const idleMb = server.rssMb()
    const cpuBefore = cpuSeconds(server.pid)
    const start = performance.now()
    await Promise.all(sizes.map(bytes => pour({ port: server.port, key: data.key, bytes, way })))
    const seconds = (performance.now() - start) / 1000
    const cpu = cpuSeconds(server.pid) - cpuBefore
    const megabytes = sizes.reduce((sum, bytes) => sum + bytes, 0) / 1024 ** 2
    const peakMb = memory(server.pid, 'VmHWM')
    return [
      name,
      seconds.toFixed(1),
      (megabytes / seconds).toFixed(0),
      cpu.toFixed(1),
      idleMb.toFixed(0),
      peakMb.toFixed(0),
      (peakMb - idleMb).toFixed(0),
    ]
  } finally {
    await server.stop()
    data.remove()
  }
}
