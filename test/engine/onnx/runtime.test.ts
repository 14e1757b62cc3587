import { CString, type Pointer } from 'bun:ffi'
import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { Graph } from '../../../src/engine/onnx/graph.ts'
import { runtimeLibrary } from '../../../src/engine/onnx/library.ts'
import { cString, cStrings } from '../../../src/engine/onnx/pointers.ts'
import { openRuntime } from '../../../src/engine/onnx/runtime.ts'
import { openSession, type Tensor, tensor } from '../../../src/engine/onnx/session.ts'
import { runtime } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'

const script = `
  const { openRuntime } = await import(${JSON.stringify(new URL('../../../src/engine/onnx/runtime.ts', import.meta.url).href)})
  const { runtimeLibrary } = await import(${JSON.stringify(new URL('../../../src/engine/onnx/library.ts', import.meta.url).href)})
  openRuntime(runtimeLibrary(), 1)
`

test('the library writes no telemetry files, whatever the environment', async () => {
  const home = temporaryFolder()
  // The child gets no other environment variables. With a variable such as CI, the library sends no telemetry even if
  // steno does not disable it, so the test could not fail.
  const child = Bun.spawn([process.execPath, '-e', script], {
    env: { HOME: home, TMPDIR: home, BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0' },
    stderr: 'inherit',
  })
  expect(await child.exited).toBe(0)
  expect(readdirSync(home)).toEqual([])
  expect(existsSync(`/tmp/mat-debug-${child.pid}.log`)).toBe(false)
})

test('a process cannot have a second pool with another number of threads', () => {
  const { threads } = runtime()
  expect(openRuntime(runtimeLibrary(), threads).threads).toBe(threads)
  expect(() => openRuntime(runtimeLibrary(), threads + 1)).toThrow(
    `this process has a pool of ${threads} threads, and cannot have one of ${threads + 1}`,
  )
})

test('C strings live as long as the array of pointers to them', () => {
  // If the garbage collection frees the C strings of `words`, the C strings of `others` overwrite their memory. All
  // these strings have about the same length, and the heap has little other free memory for this length.
  const textOf = (name: string, at: number) => `${name} ${at}`.padEnd(500)
  const words = Array.from({ length: 1000 }, (_, at) => textOf('word', at))
  const pointers = cStrings(words)
  Bun.gc(true)
  const others = Array.from({ length: 8000 }, (_, at) => cString(textOf('other', at)))
  expect(Array.from(pointers, pointer => new CString(Number(pointer) as Pointer).toString())).toEqual(words)
  expect(others).not.toBeEmpty()
  // The test may run several garbage collections. Each may take a second if the heap is full and the machine is busy.
}, 30_000)

test('native code reads no memory behind a tensor, and gets a tensor for each input', () => {
  const data = Float32Array.of(1, 2, 3)
  expect(() => tensor(runtime(), 'float32', data, [4])).toThrow('larger than its memory')
  expect(() => tensor(runtime(), 'float32', data, [2], 2)).toThrow('larger than its memory')
  const graph = new Graph()
  graph.add('Add', [graph.input('a', 'float32', ['n']), graph.input('b', 'float32', ['n'])], {}, ['sum'])
  graph.output('sum', 'float32', ['n'])
  const session = openSession(runtime(), graph.bytes())
  const run = session.run(['a', 'b'], ['sum'])
  const [first, last] = [0, 1].map(from => tensor(runtime(), 'float32', data, [2], from)) as [Tensor, Tensor]
  expect(() => run([first])).toThrow('2 inputs are needed')
  const [sum] = run([first, last])
  expect([...sum.floats(2)]).toEqual([3, 5])
  for (const used of [first, last, sum]) used.free()
  session.close()
})
