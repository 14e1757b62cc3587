import { expect, test } from 'bun:test'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { temporaryFolder } from '../support/folder.ts'

const unlessLinux = process.platform === 'linux' ? '' : ' (SKIPPED: only Linux has Landlock)'

test.skipIf(unlessLinux !== '')(
  `a file that another process removes meanwhile is ignored${unlessLinux}`,
  async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    // The process makes 20,000 Landlock rules for the path `file`. The loop below moves the file away and back during
    // this time, so that some rules find no file.
    const source = JSON.stringify(join(import.meta.dir, '../../src/base/landlock.ts'))
    const script = `
      import { restrictTo } from ${source}
      console.log('started')
      restrictTo({ read: Array(20_000).fill(${JSON.stringify(file)}), write: [] })
      process.exit(0)`
    await using child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' })
    await child.stdout.getReader().read()
    while (child.exitCode === null && child.signalCode === null) {
      for (let turn = 0; turn < 500; turn++) {
        renameSync(file, `${file}.away`)
        renameSync(`${file}.away`, file)
      }
      await setImmediate()
    }
    expect(await new Response(child.stderr).text()).toBe('')
    expect(child.exitCode).toBe(0)
  },
)
