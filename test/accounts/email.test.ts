import { expect, test } from 'bun:test'
import { normalEmail } from '../../src/accounts/email.ts'
import { limits } from '../../src/limits.ts'

const kept: [string, string][] = [
  ['ana@example.com', 'ana@example.com'],
  ['  ana@example.com\n', 'ana@example.com'],
  ['Ana.Maria+steno@Example.COM', 'Ana.Maria+steno@example.com'],
  ['local@localhost', 'local@localhost'],
  ["o'hara_{x}@a-b.example", "o'hara_{x}@a-b.example"],
  ['ana@münchen.example', 'ana@xn--mnchen-3ya.example'],
  ['ana@MÜNCHEN.example', 'ana@xn--mnchen-3ya.example'],
  ['ana@例え.テスト', 'ana@xn--r8jz45g.xn--zckzah'],
  ['用户@example.com', '用户@example.com'],
  ['Zoe\u0308@example.com', 'Zo\u00eb@example.com'],
  ['ana@4.example', 'ana@4.example'],
]

test.each(kept)('%j is stored as %j', (given, expected) => {
  expect(normalEmail(given)).toBe(expected)
  expect(normalEmail(expected)).toBe(expected)
})

const refused = [
  '',
  ' ',
  'ana',
  '@',
  '@example.com',
  'ana@',
  'ana@@example.com',
  'ana@b@example.com',
  'ana maria@example.com',
  'ana@exam ple.com',
  'ana@example.com\r\nBcc: eve@example.com',
  'ana\u0000@example.com',
  'ana\u200b@example.com',
  'ana,eve@example.com',
  'Ana <ana@example.com>',
  '"ana"@example.com',
  '.ana@example.com',
  'ana.@example.com',
  'a..na@example.com',
  'ana@example..com',
  'ana@.example.com',
  'ana@example.com.',
  'ana@EXAMPLE.com.',
  'ana@-example.com',
  'ana@example-.com',
  'ana@exam_ple.com',
  'ana@127.0.0.1',
  'ana@[127.0.0.1]',
  'ana@1',
  'ana@a%2eb',
  'ana@xn--zz--',
  `ana@${'a'.repeat(64)}.com`,
  `${'a'.repeat(limits.emailLocalBytesMax + 1)}@example.com`,
  `${'é'.repeat(limits.emailLocalBytesMax / 2 + 1)}@example.com`,
]

test.each(refused)('%j is not an address', given => {
  expect(normalEmail(given)).toBeNull()
})

test('an address may be as long as the limit and no longer', () => {
  const domain = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.`
  const before = `ana@${domain}`
  const longest = before + 'd'.repeat(62)
  const over = `${longest.slice(0, 3)}${'x'.repeat(limits.emailLengthMax + 1 - longest.length)}${longest.slice(3)}`
  expect(over.length).toBe(limits.emailLengthMax + 1)
  expect(normalEmail(over.replace('x', ''))).toHaveLength(limits.emailLengthMax)
  expect(normalEmail(over)).toBeNull()
})

test('a hostile address is refused quickly', () => {
  const started = process.cpuUsage()
  expect(normalEmail(`${'a.'.repeat(50_000)}@${'a.'.repeat(50_000)}`)).toBeNull()
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(1000)
})
