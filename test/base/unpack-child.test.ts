// Tests the child process that unpacks the files that the built program contains. Shell scripts replace the built
// program.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpackInChild } from '../../src/base/unpack-child.ts'
import { temporaryFolder } from '../support/folder.ts'

const shell = (script: string, ...args: string[]) => ['sh', '-c', script, 'sh', ...args]

test('while a child process unpacks, the event loop goes on, and a second caller waits for the same process', async () => {
  const folder = temporaryFolder()
  const [pipe, starts] = [join(folder, 'pipe'), join(folder, 'starts')]
  Bun.spawnSync(['mkfifo', pipe])
  const command = shell('echo started >> "$2"; cat "$1"', pipe, starts)
  const unpacked = [unpackInChild(command, {}), unpackInChild(command, {})]
  while (!existsSync(starts)) await Bun.sleep(2)
  // The child process ends only when it has read this text from the FIFO.
  writeFileSync(pipe, 'go on')
  await Promise.all(unpacked)
  expect(readFileSync(starts, 'utf8')).toBe('started\n')
  await unpackInChild(shell('echo started >> "$1"', starts), {})
  expect(readFileSync(starts, 'utf8')).toBe('started\nstarted\n')
})

test('the reason of a failure is the stderr of the child process, or else its exit, and the child process has the given environment', async () => {
  await expect(unpackInChild(shell('echo "the disk is full" >&2; exit 1'), {})).rejects.toThrow(
    /^the disk is full$/,
  )
  await expect(unpackInChild(shell('kill -9 $$'), {})).rejects.toThrow('SIGKILL')
  const named = unpackInChild(shell('echo "$HOME" >&2; exit 1'), { HOME: '/somewhere' })
  await expect(named).rejects.toThrow(/^\/somewhere$/)
})
