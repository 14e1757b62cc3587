import { expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { compressionOf } from '../../../src/engine/hear/compression.ts'
import { judge, repeatsItself } from '../../../src/engine/hear/guard.ts'
import { loopStart } from '../../../src/engine/hear/loop.ts'

const fine = {
  text: 'See you on Tuesday.',
  logProbability: -0.3,
  noSpeech: 0.1,
  looped: false,
  speechSeconds: 3,
}

function verdictOf({ text, looped, ...further }: typeof fine) {
  return judge({ text, repeats: repeatsItself(text, looped), ...further })
}

test.each([
  ['likely text without repetition', {}, 'good'],
  ['text that repeats itself', { text: 'Thank you very much. '.repeat(12) }, 'again'],
  ['a loop that was cut', { looped: true }, 'again'],
  ['unlikely text', { logProbability: -1.2 }, 'again'],
  ['unlikely text in a window without speech', { logProbability: -1.2, noSpeech: 0.7 }, 'silence'],
  ['likely text in a window without speech', { noSpeech: 0.9 }, 'good'],
  ['no text for seconds of speech', { text: '' }, 'again'],
  ['no text for seconds of sound without speech', { text: '', noSpeech: 0.7 }, 'good'],
  ['no text for a second of speech', { text: '', speechSeconds: 1 }, 'good'],
] as const)('%s is judged %p', (_, change, verdict) => {
  expect(verdictOf({ ...fine, ...change })).toBe(verdict)
})

test('two different sentences have a low compression ratio', () => {
  const text = 'Where is the invoice? The code is nine five one three zero.'
  expect(compressionOf(text)).toBeLessThan(1.5)
  expect(compressionOf(text)).toBeCloseTo(text.length / deflateSync(text).length, 3)
  expect(compressionOf('')).toBe(0)
})

/**
 * Texts without repetition. Their compression ratio in UTF-8 is above 2.4, so a check of UTF-8 bytes would report a
 * repetition loop.
 */
test.each([
  [
    'Georgian',
    'დღეს დილით ბაზარში წავედი და ახალი ბოსტნეული ვიყიდე. გამყიდველმა მითხრა, რომ წელს ცოტა წვიმა იყო და ამიტომ ' +
      'პომიდორი ძალიან გაძვირდა. მაინც ორი კილო პომიდორი, ერთი კილო ხახვი და ცოტა ქინძი ავიღე.',
  ],
  [
    'Burmese',
    'ဒီမနက် ကျွန်တော် ဈေးကိုသွားပြီး လတ်ဆတ်တဲ့ ဟင်းသီးဟင်းရွက်တွေ ဝယ်ခဲ့တယ်။ ဒီနှစ် မိုးနည်းလို့ ခရမ်းချဉ်သီးတွေ အရမ်းဈေးကြီးနေတယ်လို့ ဆိုင်ရှင်က ပြောတယ်။ ဒါပေမဲ့ ခရမ်းချဉ်သီး နှစ်ကီလို ဝယ်ခဲ့တယ်။',
  ],
])('plain text in %s is good, and is decoded again when it repeats itself', (_, text) => {
  expect(verdictOf({ ...fine, text })).toBe('good')
  expect(verdictOf({ ...fine, text: text.slice(0, 30).repeat(8) })).toBe('again')
})

test.each([5, 12])('a Chinese text that is repeated %i times is decoded again', times => {
  expect(verdictOf({ ...fine, text: '谢谢大家的收看。'.repeat(times) })).toBe('again')
})

test.each([
  ['no tokens', [], null],
  ['different tokens', [1, 2, 3, 4, 5, 6, 7, 8, 9], null],
  ['one token four times', [9, 5, 5, 5, 5], null],
  ['one token ten times', [9, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5], 2],
  ['three tokens three times', [1, 2, 3, 1, 2, 3, 1, 2, 3], null],
  ['three tokens four times', [7, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3], 4],
  ['24 tokens four times', Array.from({ length: 96 }, (_, at) => at % 24), 24],
  ['three tokens four times and another one', [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4], null],
])('loopStart of %s', (_, tokens, kept) => {
  expect(loopStart(tokens)).toBe(kept)
})
