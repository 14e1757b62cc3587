import { expect, test } from 'bun:test'
import { join } from 'node:path'

const isRoot = process.platform === 'linux' && process.getuid?.() === 0
const source = (name: string) => JSON.stringify(join(import.meta.dir, '../../src/base', name))

/**
 * Limits a process of root to the capabilities `had`, a bit mask, calls `giveUpAllBut` in it, and returns the bit masks
 * of its effective and permitted capabilities.
 */
function capabilitiesAfter(had: number): string[] {
  const script = `
    import { readFileSync } from 'node:fs'
    import { ptr } from 'bun:ffi'
    import { giveUpAllBut } from ${source('sandbox.ts')}
    import { systemCall } from ${source('system-call.ts')}
    const header = new Uint32Array([0x20080522, 0])
    systemCall('capset', ptr(header), ptr(new Uint32Array([${had}, ${had}, 0, 0, 0, 0])))
    giveUpAllBut({ read: ['/'], write: ['/'] })
    console.log(readFileSync('/proc/self/status', 'utf8'))`
  const status = `${Bun.spawnSync([process.execPath, '-e', script]).stdout}`
  return ['CapEff', 'CapPrm'].map(name => status.match(new RegExp(`${name}:\\s+0*([0-9a-f]+)`))?.[1] ?? '')
}

const skipped = isRoot ? '' : ' (SKIPPED: only root has capabilities)'

test.skipIf(!isRoot)(
  `a process of root keeps the access to all files, and no other capability${skipped}`,
  () => {
    const [anyFile, bindPort] = [1 << 1, 1 << 10]
    expect(capabilitiesAfter(anyFile | bindPort)).toEqual(['2', '2'])
    expect(capabilitiesAfter(bindPort)).toEqual(['0', '0'])
  },
)
