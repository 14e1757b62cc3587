import { expect, test } from 'bun:test'
import { type Segment, wordTimes } from '../../../src/engine/hear/align.ts'
import { emptyHypothesis } from '../../../src/engine/hear/hypothesis.ts'
import { mergePunctuation } from '../../../src/engine/hear/punctuation.ts'
import { segmentsOf } from '../../../src/engine/hear/segments.ts'
import { limitLengths } from '../../../src/engine/hear/word-lengths.ts'
import { tokenizerOf } from '../../support/tokenizer.ts'

/** The vocabulary: one token for each word. The id of a token is its index. */
const words = [' one', ' two', ' three', ' four', ' five', ' six', '.']
const tokenizer = tokenizerOf(words)

/**
 * Returns the attention of an ideal alignment head (it follows the speech) for one token: high from frame `from` to
 * frame `to`, and near zero elsewhere.
 */
function attendTo(frames: number, from: number, to: number): Float32Array {
  return Float32Array.from({ length: frames }, (_, frame) =>
    frame >= from && frame < to ? 1 / (to - from) : 1e-4,
  )
}

function segment(ids: number[], from: number, to: number, attention: Float32Array[]): Segment {
  return { ids, logProbabilities: ids.map(() => 0), attention, from, to }
}

const shown = (found: ReturnType<typeof wordTimes>) => found.map(({ text, from, to }) => [text, from, to])

test('a long word before a short one keeps its end', () => {
  const attention = [
    attendTo(200, 20, 60),
    attendTo(200, 60, 64),
    attendTo(200, 64, 90),
    attendTo(200, 150, 200),
  ]
  const found = wordTimes(tokenizer, 'en', [segment([0, 1, 2], 20, 90, attention)], 200)
  for (const [index, [from, to]] of [
    [20, 60],
    [60, 64],
    [64, 90],
  ].entries()) {
    expect(Math.abs(found[index]!.from - from!)).toBeLessThanOrEqual(5)
    expect(Math.abs(found[index]!.to - to!)).toBeLessThanOrEqual(5)
  }
})

test('a token that attends to all frames takes no time from its neighbours', () => {
  const everywhere = attendTo(200, 0, 200)
  const attention = [attendTo(200, 20, 50), everywhere, attendTo(200, 52, 90), attendTo(200, 150, 200)]
  const found = wordTimes(tokenizer, 'en', [segment([0, 1, 2], 20, 90, attention)], 200)
  expect(found[1]!.from).toBeGreaterThanOrEqual(46)
  expect(found[1]!.to).toBeLessThanOrEqual(56)
})

test('words of two segments stay in order, and the silence between them belongs to neither', () => {
  const attentionFrom = (from: number) => [
    attendTo(400, from, from + 30),
    attendTo(400, from + 30, from + 60),
  ]
  const rest = attendTo(400, 390, 400)
  const first = segment([0, 1], 20, 80, [...attentionFrom(20), rest])
  // As in real models, the attention of the segment's first token begins before the segment: at frame 60, not 300. The
  // word of this token must still begin in the segment, and not in the silence before it.
  const second = segment([2, 3], 300, 360, [attendTo(400, 60, 330), attentionFrom(300)[1]!, rest])
  const found = wordTimes(tokenizer, 'en', [first, second], 400)
  expect(found.map(({ text }) => text)).toEqual([' one', ' two', ' three', ' four'])
  for (const [index, word] of found.entries()) {
    expect(word.to).toBeGreaterThanOrEqual(word.from)
    if (index > 0) expect(word.from).toBeGreaterThanOrEqual(found[index - 1]!.to)
  }
  expect(found[1]!.to).toBeLessThanOrEqual(85)
  expect(found[2]!.from).toBeGreaterThanOrEqual(295)
})

test('the timestamp token between two segments takes no time from the word after it', () => {
  const said = (from: number) => attendTo(400, from, from + 40)
  // While the decoder predicts the end of the first segment, its attention is already at the next word.
  const first = segment([0, 1], 20, 100, [said(20), said(60), attendTo(400, 100, 130)])
  const second = segment([2, 3], 100, 180, [said(100), said(140), attendTo(400, 390, 400)])
  const found = wordTimes(tokenizer, 'en', [first, second], 400)
  expect(Math.abs(found[1]!.to - 100)).toBeLessThanOrEqual(5)
  expect(Math.abs(found[2]!.from - 100)).toBeLessThanOrEqual(5)
})

test('words that are said after the end of their segment get the time at which they are said', () => {
  // The timestamp tokens say that the four words end at 1.2 s, but the attention says that they begin at 4 s. The
  // attention must decide.
  const said = [200, 230, 260, 290].map(from => attendTo(400, from, from + 30))
  const wrong = segment([0, 1, 2, 3], 0, 60, [...said, attendTo(400, 320, 400)])
  const found = wordTimes(tokenizer, 'en', [wrong], 400)
  for (const [index, from] of [230, 260, 290].entries())
    expect(Math.abs(found[index + 1]!.from - from)).toBeLessThanOrEqual(5)
})

test('words that the model invented after the end of the speech stay in their segment', () => {
  // The words of the second segment were not spoken. The attention of a word is the sound frames that the model used
  // for the word. In real models, the attention of such invented words is on frames before their segment, as here.
  const said = segment([4], 20, 80, [attendTo(400, 20, 80), attendTo(400, 80, 81)])
  const back = [100, 130, 160, 190, 220].map(from => attendTo(400, from, from + 30))
  const found = wordTimes(tokenizer, 'en', [said, segment([0, 1, 2, 3], 397, 400, back)], 400)
  expect(found[1]!.from).toBeGreaterThan(350)
})

test('a sentence that the model invented inside the speech has no text', () => {
  // The second segment repeats the words of the first, and attends to the same sound. But the words of a window follow
  // one another in time, so no sound is left for the repeated words.
  const said = (from: number) => [0, 30, 60].map(later => attendTo(400, from + later, from + later + 30))
  const rest = attendTo(400, 390, 400)
  const segments = [
    segment([0, 1, 2], 20, 110, [...said(20), rest]),
    segment([0, 1, 2], 110, 111, [...said(20).toReversed(), rest]),
    segment([3, 4, 5], 110, 200, [...said(110), rest]),
  ]
  const found = wordTimes(tokenizer, 'en', segments, 400)
  expect(found.map(({ text }) => text)).toEqual([
    ' one',
    ' two',
    ' three',
    '',
    '',
    '',
    ' four',
    ' five',
    ' six',
  ])
})

test('a word includes the first 0.2 s of the full stop that is merged into it', () => {
  const attention = [
    attendTo(200, 20, 40),
    attendTo(200, 40, 60),
    attendTo(200, 60, 80),
    attendTo(200, 150, 200),
  ]
  const found = wordTimes(tokenizer, 'en', [segment([4, 5, 6], 20, 80, attention)], 200)
  expect(shown(found)[1]![0]).toBe(' six.')
  expect(found[1]!.to).toBeGreaterThanOrEqual(65)
  expect(found[1]!.to).toBeLessThanOrEqual(75)
})

test('the silence after the last word of a sentence is removed from it, in any script', () => {
  // All times are in samples, 16,000 for each second. The last word lasts 1.8 s. That is too long at the end of a
  // sentence, but not elsewhere.
  const lastWord = (text: string) =>
    limitLengths([
      { text: ' one', from: 6400, to: 19_200 },
      { text: ' two', from: 19_200, to: 32_000 },
      { text, from: 32_000, to: 60_800 },
    ]).at(-1)!
  expect(lastWord(' six')).toMatchObject({ from: 32_000, to: 60_800 })
  expect(lastWord(' है।')).toMatchObject({ from: 32_000, to: 54_400 })
})

test('a word whose attention is outside its segment does not end before it begins', () => {
  const said = ([from, to]: [number, number]) => attendTo(200, from, to)
  const early = segment([0, 1], 100, 140, [said([86, 92]), said([92, 140]), said([150, 200])])
  const late = segment([0, 1], 20, 80, [said([20, 88]), said([88, 95]), said([95, 200])])
  for (const { from, to } of [early, late].flatMap(each => wordTimes(tokenizer, 'en', [each], 200)))
    expect(to).toBeGreaterThan(from)
})

test('a segment whose timestamp token is in the middle of speech ends with the speech, or where the next begins', () => {
  const said = (from: number, to: number) => attendTo(300, from, to)
  // The last word is spoken from frame 80 to 110, but the timestamp token after it says 70.
  const early = segment([0, 1, 2], 20, 70, [said(20, 50), said(50, 80), said(80, 110), said(200, 300)])
  const next = segment([3, 4], 90, 180, [said(90, 140), said(140, 180), said(200, 300)])
  const endOf = (segments: Segment[], speech: { from: number; to: number }[]) =>
    wordTimes(tokenizer, 'en', segments, 300, speech)[2]!.to
  expect(endOf([early], [])).toBeLessThan(90)
  // The speech ends inside a frame, at 110.4. The last word must still end near frame 110, where it is spoken.
  expect(endOf([early], [{ from: 15, to: 110.4 }])).toBeGreaterThan(105)
  expect(endOf([early], [{ from: 15, to: 110.4 }])).toBeLessThan(116)
  // The end of a segment moves later by at most one second (50 frames), and not beyond the start of the next segment.
  expect(endOf([early], [{ from: 15, to: 290 }])).toBeLessThanOrEqual(125)
  expect(endOf([early, next], [{ from: 15, to: 290 }])).toBeLessThanOrEqual(95)
})

test('no word ends after the sound of its window', () => {
  const said = [attendTo(200, 20, 150), attendTo(200, 150, 200), attendTo(200, 0, 200)]
  const found = wordTimes(tokenizer, 'en', [segment([0, 1], 20, 200, said)], 200)
  expect(found[1]!.to).toBeLessThanOrEqual(199)
})

test('without segments there are no words', () => {
  expect(wordTimes(tokenizer, 'en', [], 100)).toEqual([])
})

const word = (text: string) => ({ text, from: 0, to: 1, probability: 1 })

test.each([
  [
    [' Hello', ',', ' world', '!'],
    [' Hello,', ' world!'],
  ],
  [
    [' He', ' said', ' "', 'yes', '"', '.'],
    [' He', ' said', ' "yes".'],
  ],
  [
    [' ¿', 'Qué', ' tal', '?'],
    [' ¿Qué', ' tal?'],
  ],
  [
    [' it', ' -', 'well'],
    [' it', ' -well'],
  ],
  [['.'], ['.']],
  [
    [' so', ' -'],
    [' so', ' -'],
  ],
  [
    [' Oui', ' !', ' Non', ' ?'],
    [' Oui !', ' Non ?'],
  ],
  [
    [' «', ' Oui', ' »', ',', ' dit'],
    [' « Oui »,', ' dit'],
  ],
  [
    [' वह', ' गया', '।', ' हाँ', ' ।'],
    [' वह', ' गया।', ' हाँ ।'],
  ],
  [
    [' Москва', ' —', ' столица'],
    [' Москва —', ' столица'],
  ],
  [
    [' Haus', '“', ' sagt'],
    [' Haus“', ' sagt'],
  ],
  [
    ['「', 'は', 'い', '。', '」', '雨'],
    ['「は', 'い。」', '雨'],
  ],
  [
    [' R', ' &', ' D'],
    [' R', ' &', ' D'],
  ],
])('punctuation is merged: %j', (given, expected) => {
  expect(mergePunctuation(given.map(word)).map(({ text }) => text)).toEqual(expected)
})

test('a word ends at most 0.2 s after its last sound, however long the times of its punctuation are', () => {
  const piece = (text: string, from: number, to: number) => ({ text, from, to, probability: 1 })
  const ends = (...pieces: ReturnType<typeof piece>[]) => mergePunctuation(pieces).map(({ to }) => to)
  const next = piece(' three', 90, 110)
  expect(ends(piece(' one', 0, 40), piece(',', 40, 90), next)).toEqual([50, 110])
  expect(ends(piece(' one', 0, 40), piece(',', 40, 46), next)).toEqual([46, 110])
  expect(ends(piece(' one', 0, 40), piece('.', 40, 60), piece('"', 60, 90), next)).toEqual([50, 110])
  // A percent sign is spoken, unlike a comma. So the last sound ends with the percent sign, at frame 60, and the comma
  // can add at most 0.2 s (10 frames).
  expect(ends(piece(' 5', 0, 20), piece('%', 20, 60), piece(',', 60, 90), next)).toEqual([70, 110])
})

test('a segment has the attention of its tokens and of the token after it', () => {
  const attention = Array.from({ length: 7 }, (_, token) => Float32Array.of(token))
  const hypothesis = { ...emptyHypothesis(100, 0, 0), tokens: [50, 0, 1, 90, 95, 2], attention }
  const segments = segmentsOf({ ...hypothesis, logProbabilities: [0, 1, 2, 3, 4, 5] }, 50)
  expect(segments.map(({ from, to, attention }) => [from, to, ...attention.map(([token]) => token)])).toEqual(
    [
      [0, 40, 1, 2, 3],
      [45, 100, 5, 6],
    ],
  )
})
