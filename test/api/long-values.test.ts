// Tests that long values of headers and form fields are read fast. A regular expression with quadratic time would need
// minutes for each test.

import { expect, test } from 'bun:test'
import { readRange } from '../../src/api/jobs/byte-range.ts'
import { Fields } from '../../src/api/openai/fields.ts'
import { readFields } from '../../src/api/openai/options.ts'
import { answer } from '../../src/api/page-answer.ts'

const length = 1_000_000
const spaces = ' '.repeat(length)

test('a range with many spaces is refused', () => {
  expect(readRange(`bytes=${spaces}x`, 100)).toBe('whole')
})

test('a temperature with many digits is refused', () => {
  const fields = new Fields()
  fields.add('model', 'whisper-1')
  fields.add('temperature', `${'1'.repeat(length)}x`)
  expect(() => readFields(fields, 'transcribe')).toThrow('temperature is a number from 0 to 1.')
})

test('an encoding with many spaces is not used', () => {
  const file = { name: 'a.txt', type: 'text/plain', etag: '"1"', br: '' }
  const gzip = Buffer.from(Bun.gzipSync('text')).toString('base64')
  const request = new Request('http://127.0.0.1/', { headers: { 'Accept-Encoding': `gzip${spaces}x` } })
  const { headers } = answer({ ...file, gzip }, request, {})
  expect(headers.get('content-encoding')).toBeNull()
})
