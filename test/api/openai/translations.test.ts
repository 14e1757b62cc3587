import { expect } from 'bun:test'
import { APIError } from 'openai'
import { steeredEngine } from '../../support/engine.ts'
import { answerWith, dialogue, recording, startOpenAi } from '../../support/openai.ts'
import { steered } from '../../support/service.ts'

steered('a translation has every format but diarized_json', async () => {
  const { service, client } = await startOpenAi()
  let count = 0
  const ask = async (response_format: 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt') => {
    const wanted = client.audio.translations.create({
      file: await recording(),
      model: 'whisper-1',
      prompt: 'Names: Ann',
      response_format,
    })
    const { input } = await answerWith(service, dialogue, ++count)
    expect(input).toMatchObject({ translate: true, align: false, language: null, prompt: 'Names: Ann' })
    return await wanted
  }
  expect(await ask('json')).toMatchObject({ text: dialogue.full_transcript })
  expect<unknown>(await ask('text')).toBe(`${dialogue.full_transcript}\n`)
  expect<unknown>(await ask('srt')).toStartWith('1\n00:00:00,000')
  expect<unknown>(await ask('vtt')).toStartWith('WEBVTT\n')
  const verbose: object = await ask('verbose_json')
  expect(verbose).toMatchObject({ task: 'translate', language: 'english', segments: [{}, {}, {}] })
  const diarized = client.audio.translations.create({
    file: await recording(),
    model: 'm',
    // @ts-expect-error OpenAI's types do not allow the format diarized_json for translations
    response_format: 'diarized_json',
  })
  expect(await diarized.catch(({ status, param }: APIError) => [status, param])).toEqual([
    400,
    'response_format',
  ])
})

steered('a model that cannot translate is refused by the name of the field', async () => {
  const { client } = await startOpenAi({ parts: { engine: { ...steeredEngine(), translates: () => false } } })
  const refused = client.audio.translations.create({ file: await recording(), model: 'whisper-1' })
  const error = await refused.catch((error: unknown) => error)
  expect(error).toBeInstanceOf(APIError)
  expect(error).toMatchObject({ status: 400, param: 'model', code: 'unsupported_model' })
})
