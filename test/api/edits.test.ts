import { expect, test } from 'bun:test'
import { limits } from '../../src/limits.ts'
import { utteranceId } from '../../src/transcripts/utterance-id.ts'
import { type Answer, shareServices, startTestService, steered } from '../support/service.ts'
import { addTranscript, completeIndex, transcriptWith } from '../support/transcripts.ts'

shareServices()

const texts = ['Good morning, Munich.', 'It is rainy today.', 'Thank you for watching.']

async function edited() {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const ana = service.account('ana')
  const id = addTranscript(service.db, ana, transcriptWith(texts, ['SPEAKER 1', 'SPEAKER 2']))
  completeIndex(service.db)
  const path = `/v1/transcribe/${id}`
  return {
    service,
    ana,
    path,
    id,
    patch: (body: unknown, headers?: Record<string, string>) => ana.send('PATCH', path, body, headers),
    result: async (query = '') => (await ana.get(`${path}${query}`)).body.result,
    export: async (query: string) => (await ana.get(`${path}?${query}`)).text,
    found: async (q: string) => (await ana.get(`/v1/search?q=${q}`)).body.items.length,
  }
}

test('an edited text is in the result, in every export and in the search, and words keep their times', async () => {
  const { ana, path, id, patch, result, export: exported, found } = await edited()
  expect((await ana.get(path)).body.edited_at).toBeNull()
  const { status, body } = await patch({ utterances: [{ index: 1, text: ' It is\nsunny  today. ' }] })
  expect(status).toBe(200)
  expect(body).toMatchObject({ id, utterances: [{ index: 1, text: 'It is sunny today.' }] })
  expect(
    body.utterances[0].words.map(({ word, start }: { word: string; start: number }) => [word, start]),
  ).toEqual([
    ['It', 10],
    ['is', 10.5],
    ['sunny', 11],
    ['today.', 11.5],
  ])
  expect((await ana.get(path)).body.edited_at).toBe(body.edited_at)
  const { full_transcript, utterances } = await result()
  expect(full_transcript).toBe('Good morning, Munich. It is sunny today. Thank you for watching.')
  expect({ index: 1, ...utterances[1] }).toEqual(body.utterances[0])
  for (const format of ['srt', 'vtt', 'text']) expect(await exported(`format=${format}`)).toContain('sunny')
  expect([await found('sunny'), await found('rainy')]).toEqual([1, 0])
  expect((await ana.get('/v1/transcriptions')).body.items[0].edited_at).toBe(body.edited_at)
})

test('the version of the engine stays', async () => {
  const { patch, result, export: exported } = await edited()
  const before = await result()
  await patch({ utterances: [{ index: 0, text: 'Bonjour.' }], speakers: { 'SPEAKER 2': 'Ann' } })
  await patch({ utterances: [{ index: 0, text: 'Hola.' }], speakers: { Ann: 'Bea' } })
  expect(await result('?version=original')).toEqual(before)
  expect(await result('?version=current')).toEqual(await result())
  expect(await exported('version=original&format=text')).toContain('Good morning')
  expect(await exported('format=text')).toContain('Hola')
})

test('words that come back after an edit have their old times again', async () => {
  const { patch, result } = await edited()
  const before = await result()
  await patch({ utterances: [{ index: 0, text: '' }] })
  await patch({ utterances: [{ index: 0, text: texts[0] }] })
  expect(await result()).toEqual(before)
})

test('an utterance without text is in no export, and the others keep their indexes', async () => {
  const { patch, result, export: exported, found } = await edited()
  expect((await patch({ utterances: [{ index: 2, text: ' \u0000\n ' }] })).status).toBe(200)
  const { full_transcript, utterances } = await result()
  expect(full_transcript).toBe('Good morning, Munich. It is rainy today.')
  expect(utterances[2]).toMatchObject({ text: '', words: [], start: 20, end: 22 })
  expect(utterances).toHaveLength(3)
  for (const format of ['srt', 'vtt', 'text'])
    expect(await exported(`format=${format}&max_words=50`)).not.toContain('watching')
  expect((await exported('format=srt&max_words=50')).match(/-->/g)).toHaveLength(2)
  expect(await found('watching')).toBe(0)
})

/**
 * Adds a job of another account, with the same speaker names as in the tested job. Returns functions that change and
 * read the speaker names of the added job.
 */
function addOther({ service }: Awaited<ReturnType<typeof edited>>) {
  const ben = service.account('ben')
  const id = addTranscript(service.db, ben, transcriptWith(texts, ['SPEAKER 1', 'SPEAKER 2']))
  const path = `/v1/transcribe/${id}`
  return {
    rename: (speakers: Record<string, string>) => ben.send('PATCH', path, { speakers }),
    names: async () =>
      (await ben.get(path)).body.result.utterances.map(({ speaker }: { speaker: string }) => speaker),
  }
}

test('speakers are renamed everywhere, can swap names and can become one', async () => {
  const job = await edited()
  const { patch, result, export: exported } = job
  const other = addOther(job)
  const speakers = async () => {
    const { speakers, utterances } = await result()
    for (const { speaker, words } of utterances) for (const word of words) expect(word.speaker).toBe(speaker)
    return [speakers, utterances.map(({ speaker }: { speaker: string }) => speaker)]
  }
  await patch({ speakers: { 'SPEAKER 1': 'Ann "A." \\ Müller' } })
  expect(await speakers()).toEqual([
    ['Ann "A." \\ Müller', 'SPEAKER 2'],
    ['Ann "A." \\ Müller', 'SPEAKER 2', 'Ann "A." \\ Müller'],
  ])
  expect(await exported('format=text')).toContain('Ann "A." \\ Müller: Good morning')
  // A request may still name a renamed speaker by the engine's label, such as `SPEAKER 1`. A script can therefore
  // repeat its request.
  await patch({ speakers: { 'SPEAKER 1': 'Bea', 'SPEAKER 2': 'Cy' } })
  await patch({ speakers: { Bea: 'Cy', Cy: 'Bea' } })
  expect(await speakers()).toEqual([
    ['Cy', 'Bea'],
    ['Cy', 'Bea', 'Cy'],
  ])
  await patch({ speakers: { Bea: 'Cy' } })
  expect(await speakers()).toEqual([['Cy'], ['Cy', 'Cy', 'Cy']])
  expect(await other.names()).toEqual(['SPEAKER 1', 'SPEAKER 2', 'SPEAKER 1'])
})

test('speakers that have one name are told apart again by the labels of the engine', async () => {
  const job = await edited()
  const { patch, result } = job
  const other = addOther(job)
  const speakers = async () => {
    const { speakers, utterances } = await result()
    for (const { speaker, words } of utterances) for (const word of words) expect(word.speaker).toBe(speaker)
    return [speakers, utterances.map(({ speaker }: { speaker: string }) => speaker)]
  }
  const both = { 'SPEAKER 1': 'Ann', 'SPEAKER 2': 'Ann' }
  await other.rename(both)
  await patch({ speakers: both })
  expect(await speakers()).toEqual([['Ann'], ['Ann', 'Ann', 'Ann']])
  await patch({ speakers: { 'SPEAKER 2': 'SPEAKER 2' } })
  expect(await speakers()).toEqual([
    ['Ann', 'SPEAKER 2'],
    ['Ann', 'SPEAKER 2', 'Ann'],
  ])
  await patch({ speakers: { 'SPEAKER 2': 'Ann' } })
  await patch({ speakers: { 'SPEAKER 1': 'Bea', 'SPEAKER 2': 'Cy' } })
  expect(await speakers()).toEqual([
    ['Bea', 'Cy'],
    ['Bea', 'Cy', 'Bea'],
  ])
  await patch({ speakers: { Bea: 'Cy' } })
  await patch({ speakers: { Cy: 'Dan', 'SPEAKER 1': 'Eve' } })
  expect(await speakers()).toEqual([
    ['Eve', 'Dan'],
    ['Eve', 'Dan', 'Eve'],
  ])
  expect(await other.names()).toEqual(['Ann', 'Ann', 'Ann'])
})

test('a name with an arrow or markup gives valid subtitles', async () => {
  const { patch, export: exported } = await edited()
  expect((await patch({ speakers: { 'SPEAKER 1': 'a --> <b>&' } })).status).toBe(200)
  expect((await patch({ utterances: [{ index: 0, text: 'one --> two <i>' }] })).status).toBe(200)
  const srt = await exported('format=srt&max_words=50')
  expect(srt.split('\n').filter(line => line.includes('-->'))).toHaveLength(3)
  const vtt = await exported('format=vtt&max_words=50')
  expect(vtt).toContain('<v a --&gt; &lt;b&gt;&amp;>one --&gt; two &lt;i&gt;')
})

test('an edit is refused when somebody else was faster, if the request has If-Match', async () => {
  const { ana, path, patch } = await edited()
  const tag = (await ana.get(path)).headers.get('etag') ?? ''
  const edit = (text: string, match: string) =>
    patch({ utterances: [{ index: 0, text }] }, { 'If-Match': match })
  const first = await edit('One.', tag)
  expect([first.status, first.headers.get('etag') === tag]).toEqual([200, false])
  const second = await edit('Two.', tag)
  expect([second.status, second.body.error.code]).toEqual([412, 'PRECONDITION_FAILED'])
  expect((await ana.get(path)).body.result.utterances[0].text).toBe('One.')
  expect((await ana.get(path)).headers.get('etag')).toBe(first.headers.get('etag'))
  expect((await edit('Three.', 'nonsense')).status).toBe(412)
  expect((await edit('Four.', `"77", ${first.headers.get('etag')}`)).status).toBe(200)
  expect((await edit('Five.', '*')).status).toBe(200)
})

test('an ETag that a compressing proxy has changed is still the ETag of the transcript', async () => {
  const { patch } = await edited()
  const edit = (match: string) =>
    patch({ utterances: [{ index: 0, text: 'Good morning.' }] }, { 'If-Match': match })
  const statuses: number[] = []
  for (const match of ['W/"0"', '"1-gzip"', '"9", W/"2-zstd"', 'W/"2"', '"3gzip"', '"3-"'])
    statuses.push((await edit(match)).status)
  expect(statuses).toEqual([200, 200, 200, 412, 412, 412])
})

const longText = 'x'.repeat(limits.editedTextLengthMax + 1)

test.each<[unknown, string]>([
  [{}, 'utterances or speakers'],
  [{ utterances: [], speakers: {} }, 'utterances or speakers'],
  [{ utterances: [{ index: 3, text: 'x' }] }, 'utterances[0].index'],
  [
    {
      utterances: [
        { index: 0, text: 'x' },
        { index: 2 ** 20, text: 'x' },
      ],
    },
    'utterances[1].index',
  ],
  [{ utterances: [{ index: -1, text: 'x' }] }, 'utterances[0].index'],
  [{ utterances: [{ index: 0.5, text: 'x' }] }, 'utterances[0].index'],
  [
    {
      utterances: [
        { index: 0, text: 'x' },
        { index: 0, text: 'y' },
      ],
    },
    'utterances[1].index',
  ],
  [{ utterances: [{ index: 0 }] }, 'utterances[0].text'],
  [{ utterances: [{ index: 0, text: ['x'] }] }, 'utterances[0].text'],
  [{ utterances: [{ index: 0, text: longText }] }, 'utterances[0].text'],
  [{ utterances: [{ index: 0, text: 'x'.repeat(1_000_000) }] }, 'utterances[0].text'],
  [{ utterances: [{ index: 0, text: 'x', start: 1 }] }, 'utterances[0].start'],
  [{ utterances: { index: 0, text: 'x' } }, 'utterances'],
  [{ utterances: ['x'] }, 'utterances[0]'],
  [{ speakers: { 'a\u2028b': 5 } }, 'speakers'],
  [
    {
      utterances: Array.from({ length: limits.editedUtterancesMax + 1 }, (_, index) => ({
        index,
        text: 'x',
      })),
    },
    'utterances',
  ],
  [{ speakers: { 'SPEAKER 3': 'Ann' } }, 'SPEAKER 1, SPEAKER 2'],
  [{ speakers: { constructor: 'Ann' } }, 'SPEAKER 1, SPEAKER 2'],
  [{ speakers: { 'SPEAKER 1': '' } }, 'speakers.SPEAKER 1'],
  [{ speakers: { 'SPEAKER 1': 'Ann\nBea' } }, 'speakers'],
  [{ speakers: { 'SPEAKER 1': 'Ann\u2028Bea' } }, 'speakers'],
  [{ speakers: { 'SPEAKER 1': 'Ann\ud800' } }, 'speakers'],
  [{ speakers: { 'SPEAKER 1': ' ' } }, 'speakers'],
  [{ speakers: { 'SPEAKER 1': 'x'.repeat(limits.speakerNameLengthMax + 1) } }, 'speakers.SPEAKER 1'],
  [{ speakers: ['Ann'] }, 'speakers'],
  [{ speakers: 'Ann' }, 'speakers'],
  [{ texts: [] }, 'texts'],
])('a wrong edit is refused, and the message names the field: %#', async (body, named) => {
  const { patch, result } = await edited()
  const before = await result()
  const answer = await patch(body)
  expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  expect(answer.body.error.message).toContain(named)
  expect(await result()).toEqual(before)
})

test('edits make a transcript at most a few times as large as the original', async () => {
  const { patch, result } = await edited()
  const before = await result()
  const short = 'a '.repeat(limits.editedTextLengthMax / 2)
  const all = await patch({ utterances: texts.map((_, index) => ({ index, text: short })) })
  expect([all.status, all.body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  expect(all.body.error.message).toStartWith('utterances[2].text makes the transcript too large')
  expect(await result()).toEqual(before)

  const change = async (index: number, text: string) =>
    (await patch({ utterances: [{ index, text }] })).status
  expect([await change(0, short), await change(1, short), await change(2, short)]).toEqual([200, 200, 400])
  expect([await change(1, 'b'), await change(2, short), await change(1, short)]).toEqual([200, 200, 400])
  const size = JSON.stringify((await result()).utterances).length
  expect(size).toBeLessThan(limits.editedBytesMore + limits.editedSizesMax * JSON.stringify(before).length)
})

test('long names of speakers leave room for edits', async () => {
  const { patch } = await edited()
  const change = async (index: number, text: string) =>
    (await patch({ utterances: [{ index, text }] })).status
  expect(await change(0, 'a '.repeat(limits.editedTextLengthMax / 2))).toBe(200)
  // In the transcript, each word contains the name of its speaker. The first utterance has 5,000 words, so this name of
  // 320 bytes is stored 5,000 times. The names must not count as text that edits have added.
  const name = '😀'.repeat(limits.speakerNameLengthMax)
  expect((await patch({ speakers: { 'SPEAKER 1': name } })).status).toBe(200)
  expect(await change(1, 'One more word than before.')).toBe(200)
})

test('a transcript that is already too large can still be made smaller', async () => {
  const { service, id, patch, result } = await edited()
  const { seq } = service.db.find<{ seq: number }>('select seq from jobs where id = $id', { id })!
  const long = 'x'.repeat(limits.editedBytesMore * 2)
  service.db.run(
    `update utterances set original = body, body = json_set(body, '$.text', $long)
     where id = $rowId`,
    { rowId: utteranceId(seq, 0), long },
  )
  const change = async (index: number, text: string) =>
    (await patch({ utterances: [{ index, text }] })).status
  expect((await result()).utterances[0].text).toBe(long)
  expect([await change(1, 'It'), await change(1, 'It is')]).toEqual([200, 400])
  expect([await change(0, 'Good.'), await change(1, 'It is')]).toEqual([200, 200])
})

test('a job of somebody else, an unknown job and a deleted job cannot be edited', async () => {
  const { service, ana, path, patch } = await edited()
  const body = { speakers: { 'SPEAKER 1': 'Ann' } }
  const code = ({ status, body }: Answer) => [status, body.error.code]
  expect(code(await service.account('ben').send('PATCH', path, body))).toEqual([
    404,
    'TRANSCRIPTION_NOT_FOUND',
  ])
  expect(code(await ana.send('PATCH', '/v1/transcribe/none', body))).toEqual([404, 'TRANSCRIPTION_NOT_FOUND'])
  await ana.delete(path)
  expect(code(await patch(body))).toEqual([404, 'TRANSCRIPTION_NOT_FOUND'])
})

steered('a job without a transcript cannot be edited', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe()
  await service.engine.given(1)
  const { status, body } = await ana.send('PATCH', `/v1/transcribe/${id}`, {
    utterances: [{ index: 0, text: 'x' }],
  })
  expect([status, body.error.code]).toEqual([409, 'CONFLICT'])
})

test('a text that an edit replaced is found no more, also while the index is being written', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const ana = service.account('ana')
  const id = addTranscript(service.db, ana, texts)
  const patch = (index: number, text: string) =>
    ana.send('PATCH', `/v1/transcribe/${id}`, { utterances: [{ index, text }] })
  await patch(0, 'Edited before the index.')
  completeIndex(service.db)
  await patch(0, 'Edited after the index.')
  await patch(1, 'Also edited.')
  completeIndex(service.db)
  service.db.run("insert into search (search) values ('integrity-check')")
  const found = async (q: string) => (await ana.get(`/v1/search?q=${q}`)).body.items.length
  expect(await Promise.all(['before', 'after', 'munich', 'rainy', 'edited', 'watching'].map(found))).toEqual([
    0, 1, 0, 0, 2, 1,
  ])
})
