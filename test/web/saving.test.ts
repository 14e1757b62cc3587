import { expect, test } from 'bun:test'
import { Fault } from '../../src/web/base/fault.ts'
import type { Utterance } from '../../src/web/transcript/document.ts'
import { storeDrafts } from '../../src/web/transcript/drafts.ts'
import type { EditRequests } from '../../src/web/transcript/edit-requests.ts'
import { Saving } from '../../src/web/transcript/saving.ts'
import { indexWords } from '../../src/web/transcript/word-index.ts'
import { utteranceOf } from '../support/transcripts.ts'

const utterance = (text: string): Utterance => ({
  start: 0,
  end: 1,
  text,
  speaker: null,
  confidence: null,
  words: [],
})

const resultOf = (texts: string[]) => ({
  full_transcript: '',
  language: 'en',
  duration_seconds: 4,
  speakers: null,
  utterances: texts.map(utterance),
})

const listeners = { onText() {}, onTheirs() {}, onWords() {}, onRead() {} }

test('an edit that conflicts with an edit of another person is not sent in a divided request', async () => {
  // Like the server, `saveTexts` first checks the length of each text, and then the version of the transcript.
  const sent: number[][] = []
  let isOld = true
  const requests = {
    async saveTexts(texts: { index: number; text: string }[]) {
      sent.push(texts.map(({ index }) => index))
      if (texts.some(({ text }) => text === 'too long')) throw new Fault('INVALID_REQUEST', '', 400)
      if (isOld) throw new Fault('PRECONDITION_FAILED', '', 412)
      return texts.map(({ index, text }) => ({ index, ...utterance(text) }))
    },
    async read() {
      isOld = false
      return resultOf(['a', 'b', 'c', 'theirs'])
    },
  } as unknown as EditRequests
  const saving = new Saving('divided', resultOf(['a', 'b', 'c', 'd']), requests, listeners)
  const texts = ['mine', 'mine', 'too long', 'mine']
  saving.show(texts.map((text, utterance) => ({ utterance, text })))
  await saving.save()
  expect(sent).toEqual([[0, 1, 2, 3], [0, 1], [2]])
  await saving.save()
  saving.close()
  expect(sent.at(-1)).toEqual([0, 1])
  expect(saving.conflicts.value).toEqual([{ utterance: 3, mine: 'mine', theirs: utterance('theirs') }])
})

test('an edit is sent once, although two callers wait for the request before it', async () => {
  const sent: string[] = []
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const requests = {
    async saveTexts(texts: { index: number; text: string }[]) {
      sent.push(texts.map(({ text }) => text).join())
      asked.resolve()
      await answered.promise
      return texts.map(({ index, text }) => ({ index, ...utterance(text) }))
    },
  } as unknown as EditRequests
  const saving = new Saving('once', resultOf(['a']), requests, listeners)
  saving.set(0, 'first')
  const first = saving.save()
  await asked.promise
  saving.set(0, 'second')
  const waiting = [saving.save(), saving.save()]
  answered.resolve()
  await Promise.all([first, ...waiting])
  saving.close()
  expect(sent).toEqual(['first', 'second'])
})

test('all edits are saved before a file is exported, or the reason against it is thrown', async () => {
  const sent: number[] = []
  const requests = {
    async saveTexts(texts: { index: number; text: string }[]) {
      sent.push(texts.length)
      if (sent.length > 3) throw new Fault('RATE_LIMITED', 'Too many requests.', 429)
      return texts.map(({ index, text }) => ({ index, ...utterance(text) }))
    },
  } as unknown as EditRequests
  const saving = new Saving('all', resultOf(Array<string>(250).fill('a')), requests, listeners)
  saving.show(Array.from({ length: 250 }, (_, utterance) => ({ utterance, text: 'mine' })))
  await saving.saveAll()
  expect(sent).toEqual([100, 100, 50])
  saving.set(0, 'mine too')
  await expect(saving.saveAll()).rejects.toThrow('Too many requests.')
  saving.set(0, 'mine')
  saving.close()
})

test('changes of many texts at once count as one change', async () => {
  const count = 50
  const read = async () => resultOf(Array<string>(count).fill('theirs'))
  const saving = new Saving(
    'many',
    resultOf(Array<string>(count).fill('a')),
    { read } as EditRequests,
    listeners,
  )
  const counts: number[] = []
  saving.textChanges.subscribe(changes => void counts.push(changes))
  await saving.compare()
  saving.show(Array.from({ length: count }, (_, utterance) => ({ utterance, text: 'mine' })))
  saving.close()
  expect(counts).toEqual([0, 1, 2])
})

test('a text that is taken from another person comes with its words', async () => {
  const theirs = {
    ...utterance('theirs'),
    words: [{ word: 'theirs', start: 1, end: 2, confidence: null, speaker: 'Ann' }],
    speaker: 'Ann',
  }
  const requests = {
    async saveTexts() {
      throw new Fault('PRECONDITION_FAILED', '', 412)
    },
    read: async () => ({ ...resultOf([]), utterances: [theirs, theirs, theirs] }),
  } as unknown as EditRequests
  const result = resultOf(['a', 'b', 'c'])
  const saving = new Saving('taken', result, requests, listeners)
  saving.set(1, 'theirs')
  saving.set(2, 'mine')
  await saving.save()
  for (const conflict of saving.conflicts.value) saving.settle(conflict, 'theirs')
  saving.close()
  const expected = { ...theirs, speaker: null }
  expect(result.utterances).toEqual([expected, expected, expected])
  expect(saving.state.value).toBe('saved')
})

test('when the newer version of the transcript cannot be read, the page says that the edit is not saved', async () => {
  const requests = {
    async saveTexts() {
      throw new Fault('PRECONDITION_FAILED', '', 412)
    },
    async read() {
      throw new Fault('RATE_LIMITED', 'Too many requests.', 429)
    },
  } as unknown as EditRequests
  const saving = new Saving('unread', resultOf(['a']), requests, listeners)
  saving.set(0, 'mine')
  await saving.save()
  expect([saving.state.value, saving.fault.value]).toEqual(['failed', 'Too many requests.'])
  saving.set(0, 'a')
})

test('after edits of an earlier visit are restored, the words are found in the restored texts', () => {
  // The edit was made to the text `day`, but the server now has `good day`. Because of this conflict, `saving.close`
  // does not send the edit.
  storeDrafts('restored', [{ utterance: 0, text: 'so good day', was: 'day' }], new Set())
  const result = { ...resultOf([]), utterances: [utteranceOf('good day')] }
  let index = indexWords(result.utterances)
  const onWords = () => {
    index = indexWords(result.utterances)
  }
  const saving = new Saving('restored', result, {} as EditRequests, { ...listeners, onWords })
  saving.open()
  saving.close()
  expect([...index.from]).toEqual([3, 8])
})
