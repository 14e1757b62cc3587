// Tests that a full disk during a download is an error that can be caught, and does not end the process.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/folder.ts'

const module = JSON.stringify(join(import.meta.dir, '../../../src/engine/models/fetch-file.ts'))

test('a full disk is an error that can be caught', async () => {
  const folder = temporaryFolder()
  const script = `
    const { fetchFile } = await import(${module})
    async function* body() {
      for (let count = 0; count < 20; count++) yield new Uint8Array(10_000)
    }
    const open = async () => ({ body: body(), resumed: false })
    const wanted = { name: 'a', size: 200_000, open, isGood: async () => true, signal: new AbortController().signal }
    await fetchFile(${JSON.stringify(join(folder, 'a'))}, wanted, () => {}).catch(error => console.log(error.code))`
  const limited = ['bash', '-c', `trap '' XFSZ; ulimit -f 64; exec "$0" -e "$1"`, process.execPath, script]
  const { stdout, exitCode } = Bun.spawnSync(limited)
  expect([stdout.toString().trim(), exitCode]).toEqual(['EFBIG', 0])
})
