import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { models, voiceModels } from '../../src/engine/models/catalogue.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { steno } from '../support/program.ts'

let folder: string
let hub: TestHub

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'steno-models-'))
  const json = new TextEncoder().encode('{}')
  const files = {
    'config.json': json,
    'generation_config.json': json,
    'tokenizer.json': json,
    'onnx/encoder_model_quantized.onnx': new Uint8Array(3000),
    'onnx/decoder_model_merged_quantized.onnx': new Uint8Array(5000),
  }
  const voices = { 'onnx/model.onnx': new Uint8Array(700), 'onnx/model_fp16.onnx': new Uint8Array(9) }
  const others = Object.fromEntries(voiceModels.map(id => [models[id].repository, voices]))
  hub = startHub(models.base.repository, files, { others })
})

afterEach(async () => {
  await hub.stop()
  rmSync(folder, { recursive: true })
})

const run = (...args: string[]) =>
  steno(['models', ...args], { STENO_MODELS_DIR: folder, HF_ENDPOINT: hub.endpoint, STENO_DEVICE: 'cpu' })

test('a model is pulled, listed, verified and removed', async () => {
  expect(await run('pull', 'base')).toMatchObject({
    code: 0,
    out: expect.stringContaining('base: 5 files, 7.8 KB'),
  })
  const listed = JSON.parse((await run('list', '--json')).out)
  expect(listed.find(({ id }: { id: string }) => id === 'base').bytes).toBeGreaterThan(8000)
  expect((await run('verify')).out).toStartWith('base: good\n')

  await Bun.write(join(folder, 'base', 'tokenizer.json'), '[]')
  const broken = await run('verify', 'base')
  expect(broken).toMatchObject({ code: 1, out: 'base: not as published: tokenizer.json\n' })

  expect((await run('remove', 'base')).out).toBe('base removed\n')
  expect(await run('remove', 'base')).toMatchObject({ code: 1, err: 'steno: there is no model base here\n' })
})

test('the voice models are downloaded with the first model, once', async () => {
  const { out } = await run('pull', 'base')
  expect(out.split('\n').map(line => line.split(',')[0])).toEqual([
    'base: 5 files',
    ...voiceModels.map(id => `${id}: 1 files`),
    '',
  ])
  expect((await run('pull', 'base')).out.split('\n').length).toBe(2)
  expect((await run('pull', voiceModels[0])).out).toStartWith(`${voiceModels[0]}: 1 files`)
  expect((await run('verify')).out.split('\n').filter(line => line.endsWith(': good')).length).toBe(3)
})

test('an unknown model is an error of one line', async () => {
  const { code, err } = await run('pull', 'huge')
  expect(code).toBe(1)
  expect(err).toMatch(/^steno: there is no model huge; there are tiny, [^\n]+\n$/)
})
