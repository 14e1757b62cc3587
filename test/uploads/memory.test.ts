import { expect, test } from 'bun:test'
import { pour } from '../support/pour.ts'
import { memory, prepareData, serve } from '../support/server.ts'

const MB = 1024 ** 2
const uploadBytes = 100 * MB
const growthMbMax = 16

test.each([
  ['upload', 'put'],
  ['resumable upload', 'patch'],
  ['form', 'form'],
] as const)(
  "a large %s does not grow the server's memory",
  async (_, way) => {
    const data = prepareData()
    const server = await serve(data)
    try {
      await pour({ port: server.port, key: data.key, bytes: MB })
      const idle = server.rssMb()
      await pour({ port: server.port, key: data.key, bytes: uploadBytes, way })
      expect(memory(server.pid, 'VmHWM') - idle).toBeLessThan(growthMbMax)
    } finally {
      await server.stop()
      data.remove()
    }
  },
  60_000,
)
