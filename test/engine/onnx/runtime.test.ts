import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const script = `
  const { openRuntime } = await import(${JSON.stringify(new URL('../../../src/engine/onnx/runtime.ts', import.meta.url).href)})
  const { runtimeLibrary } = await import(${JSON.stringify(new URL('../../../src/engine/onnx/library.ts', import.meta.url).href)})
  openRuntime(runtimeLibrary(), 1)
`

test('the library keeps no diary, whatever the environment says', async () => {
  const home = mkdtempSync(join(tmpdir(), 'steno-home-'))
  try {
    const { ORT_DISABLE_TELEMETRY: _, ...environment } = process.env
    const child = Bun.spawn([process.execPath, '-e', script], {
      env: { ...environment, HOME: home, TMPDIR: home, BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0' },
      stderr: 'inherit',
    })
    expect(await child.exited).toBe(0)
    expect(readdirSync(home)).toEqual([])
    expect(existsSync(`/tmp/mat-debug-${child.pid}.log`)).toBe(false)
  } finally {
    rmSync(home, { recursive: true })
  }
})
