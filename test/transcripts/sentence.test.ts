import { expect, test } from 'bun:test'
import { endsSentence, sentencesOf } from '../../src/transcripts/sentence.ts'

test.each([
  ['English', 'He went home.', true],
  ['an ellipsis', 'He went…', true],
  ['German in quotes', 'Er sagte: „Komm!“', true],
  ['French in quotes', 'Il dit «viens !»', true],
  ['Russian in brackets', '(Он ушёл.)', true],
  ['Greek, its question mark', 'Τι κάνεις\u037e', true],
  ['Greek, its question mark typed as a semicolon', 'Τι κάνεις;', true],
  ['an English semicolon', 'He went;', false],
  ['Armenian', 'Նա գնաց տուն։', true],
  ['Arabic, its question mark', 'كيف حالك؟', true],
  ['Urdu, its full stop', 'وہ گھر گیا۔', true],
  ['Hindi, its danda', 'वह घर गया।', true],
  ['Sanskrit, its double danda', 'गच्छति॥', true],
  ['Bengali, its danda', 'সে বাড়ি গেল।', true],
  ['Chinese', '他回家了。', true],
  ['Chinese in quotes', '“他回家了吗？”', true],
  ['Japanese in corner brackets', '「帰りました。」', true],
  ['half-width Japanese', 'ｶｴﾘﾏｼﾀ｡', true],
  ['Burmese, its section', 'သူ အိမ်ပြန်တယ်။', true],
  ['Burmese, its little section', 'သူက၊', false],
  ['Khmer', 'គាត់ទៅផ្ទះ។', true],
  ['Amharic', 'ወደ ቤት ሄደ።', true],
  ['Amharic, its question mark', 'የት ነው፧', true],
  ['Tibetan, its shad', 'ཁོ་ནང་ལ་སོང་།', true],
  ['a space after the mark', '你好。 ', true],
  ['a comma', 'He went,', false],
  ['an Arabic comma', 'ذهب،', false],
  ['an ideographic comma', '他、', false],
  ['no mark', 'He went', false],
  ['nothing', '', false],
  ['a title', ' Mr.', false],
  ['a title in brackets', '(Dr.', false],
  ['an initial', 'by J.', false],
  ['an ordinal', 'am 3.', false],
  ['a year', 'in 1990.', true],
  ['the last letter of a word', 'the U.S.', true],
])('endsSentence of %s: %s', (_, text, ends) => {
  expect(endsSentence(text)).toBe(ends)
})

test.each([
  [' One two. Three four! Five?', [' One two.', ' Three four!', ' Five?']],
  [' Dr. Brown paid 3.14 at a.b. They spoke', [' Dr. Brown paid 3.14 at a.b.', ' They spoke']],
  ['Wirklich?! „Ja.“ Gut.', ['Wirklich?!', ' „Ja.“', ' Gut.']],
  ['वह गया। मैं आया।', ['वह गया।', ' मैं आया।']],
  ['أين هو؟ هنا.', ['أين هو؟', ' هنا.']],
  ['وہ گیا۔ میں آیا۔', ['وہ گیا۔', ' میں آیا۔']],
  ['你好。再见。', ['你好。', '再见。']],
  ['他说：“走吧！”“好。”', ['他说：“走吧！”', '“好。”']],
  ['何？！「はい。」そう', ['何？！', '「はい。」', 'そう']],
  ['ሄደ።መጣ።', ['ሄደ።', 'መጣ።']],
  ['One.  ', ['One.']],
  ['no mark', ['no mark']],
  ['  ', []],
])('the sentences of %p', (text, sentences) => {
  expect(sentencesOf(text)).toEqual(sentences)
})
