import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { nvidiaGpus } from '../../../src/engine/onnx/gpus.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('the GPUs of a machine are counted by their device files', async () => {
  const devices = temporaryFolder()
  expect(nvidiaGpus(null, devices)).toEqual([])
  for (const name of ['nvidia0', 'nvidia3', 'nvidiactl', 'nvidia-uvm', 'null'])
    await Bun.write(join(devices, name), '')
  // In a container that has two of four GPUs, the device files keep the numbers of the machine, such as 0 and 3. CUDA
  // gives these two GPUs the numbers 0 and 1. The result must have the numbers of CUDA.
  expect(nvidiaGpus(null, devices)).toEqual(['0', '1'])
  expect(nvidiaGpus(null, join(devices, 'missing'))).toEqual([])
})

test.each([
  ['2', ['2']],
  ['1, 3', ['1', '3']],
  ['GPU-8932f937,MIG-e91edf3b', ['GPU-8932f937', 'MIG-e91edf3b']],
  ['0,-1,1', ['0']],
  ['', []],
])('CUDA_VISIBLE_DEVICES=%s chooses the GPUs', (chosen, gpus) => {
  expect(nvidiaGpus(chosen, '/nowhere')).toEqual(gpus)
})
