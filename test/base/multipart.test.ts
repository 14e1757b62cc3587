import { expect, test } from 'bun:test'
import { readMultipart } from '../../src/base/multipart.ts'
import { boundaryOf, MultipartError, parseHead } from '../../src/base/multipart-head.ts'
import { seeded } from '../support/random.ts'

type Read = { name: string; filename: string | null; data: string }

async function* inPieces(whole: Buffer, sizeOf: () => number) {
  for (let at = 0; at < whole.length; ) {
    const size = sizeOf()
    yield whole.subarray(at, at + size)
    at += size
  }
}

async function readAll(whole: Buffer | string, boundary: string, sizeOf = () => 1000): Promise<Read[]> {
  const parts: Read[] = []
  for await (const { name, filename, body } of readMultipart(
    inPieces(Buffer.from(whole), sizeOf),
    boundary,
  )) {
    const chunks: Uint8Array[] = []
    for await (const chunk of body) chunks.push(chunk)
    parts.push({ name, filename, data: Buffer.concat(chunks).toString('latin1') })
  }
  return parts
}

function part(name: string, data: string, filename?: string): string {
  const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: audio/wav`
  return `--b\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${data}\r\n`
}

test('a form is read the same way wherever its bytes are cut', async () => {
  const random = seeded(14)
  for (let round = 0; round < 400; round++) {
    const boundary = random.pick(['----WebKitFormBoundaryAbC', 'x', '-', '--', 'a'.repeat(70)])
    const tokens = ['\r', '\n', '-', boundary[0] ?? '', 'z', '\r\n--', '\r\n-', boundary.slice(0, -1)]
    const expected: Read[] = []
    const bytes: string[] = []
    for (let index = 0; index <= random.below(5); index++) {
      const text = Array.from({ length: random.below(300) }, () => random.pick(tokens)).join('')
      const [data = ''] = `\r\n${text}\r\n`.includes(`\r\n--${boundary}`) ? [''] : [text]
      const filename = random.below(2) === 0 ? null : `f${index}.wav`
      expected.push({ name: `n${index}`, filename, data })
      const file = filename === null ? '' : `; filename="${filename}"\r\nContent-Type: audio/wav`
      bytes.push(
        `--${boundary}\r\nContent-Disposition: form-data; name="n${index}"${file}\r\n\r\n${data}\r\n`,
      )
    }
    const whole = Buffer.from(`${bytes.join('')}--${boundary}--\r\n`)
    expect(await readAll(whole, boundary, () => 1 + random.below(random.pick([7, 200])))).toEqual(expected)
  }
})

test('a form that ends early is refused at every byte', async () => {
  const whole = `${part('model', 'whisper-1')}${part('file', 'sound', 'a.wav')}--b--`
  for (let length = 0; length < whole.length; length++) {
    await expect(readAll(whole.slice(0, length), 'b')).rejects.toThrow(MultipartError)
  }
  expect(await readAll(whole, 'b')).toHaveLength(2)
})

test('a part that is not read is skipped', async () => {
  const names: string[] = []
  const whole = Buffer.from(`${part('one', 'x'.repeat(5000))}${part('two', '')}--b--\r\n`)
  for await (const { name } of readMultipart(
    inPieces(whole, () => 10),
    'b',
  ))
    names.push(name)
  expect(names).toEqual(['one', 'two'])
})

test('a part is passed on while it arrives', async () => {
  const lengths: number[] = []
  const whole = Buffer.from(`${part('one', 'x'.repeat(5000))}--b--`)
  for await (const { body } of readMultipart(
    inPieces(whole, () => 100),
    'b',
  ))
    for await (const bytes of body) lengths.push(bytes.length)
  expect(lengths.length).toBeGreaterThan(40)
})

test('the source of the bytes is closed when the reader of the parts stops', async () => {
  let isClosed = false
  async function* source() {
    try {
      yield Buffer.from(`${part('one', 'x')}${part('two', 'y')}--b--`)
    } finally {
      isClosed = true
    }
  }
  for await (const _ of readMultipart(source(), 'b')) break
  expect(isClosed).toBe(true)
})

test('names with escaped quotes, extended names and bare names are read', async () => {
  const head = (rest: string) => `--b\r\ncontent-disposition:form-data${rest}\r\n\r\nx\r\n`
  const whole = [
    head('; name="a\\"b"; filename="c%22d.wav"'),
    head("; name=file; filename*=UTF-8''na%20me.wav"),
    head('; filename="ñ.wav"; name="file"'),
    '--b--',
  ]
  expect(await readAll(whole.join(''), 'b')).toEqual([
    { name: 'a"b', filename: 'c"d.wav', data: 'x' },
    { name: 'file', filename: 'na me.wav', data: 'x' },
    { name: 'file', filename: 'ñ.wav', data: 'x' },
  ])
})

test.each([
  ["filename*=utf-8''Gespr%C3%A4ch.flac", 'Gespräch.flac'],
  [`filename="=?utf-8?B?5Lya6K6uLm1wMw==?="; filename*=utf-8''%E4%BC%9A%E8%AE%AE.mp3`, '会议.mp3'],
  [`filename*=UTF-8'de'%C3%BC.mp3; filename="u.mp3"`, 'ü.mp3'],
  ['filename="Gespr%C3%A4ch%20mit%20%22Ann%22.flac"', 'Gespräch mit "Ann".flac'],
  ["filename=u.mp3; filename*=utf-8''%FC.mp3", 'u.mp3'],
  ["filename*=iso-8859-1''%FC.mp3", "iso-8859-1''%FC.mp3"],
  ['filename="Gespr%E4ch.flac"', 'Gespr%E4ch.flac'],
  ['filename="100% Gespr%C3%A4ch.flac"', '100% Gespr%C3%A4ch.flac'],
  ['filename="Gespräch%20%C3%A4.flac"', 'Gespräch%20%C3%A4.flac'],
  ['filename="a%20b.flac"', 'a%20b.flac'],
  ['filename="a; name=b.flac"', 'a; name=b.flac'],
  ['FileName="a.flac"', 'a.flac'],
  ['filename="C:\\talks\\a.flac"', 'C:\\talks\\a.flac'],
  ['filename="a.flac"; filename="b.flac"', 'a.flac'],
])('the parameters %p give the file name %p', (parameters, filename) => {
  const head = `Content-Disposition: form-data; ${parameters}; name="file"`
  expect(parseHead(head)).toEqual({ name: 'file', filename })
})

test('a part without a name, a long head, a long preamble and a long epilogue are refused', async () => {
  const without = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--'
  await expect(readAll(without, 'b')).rejects.toThrow('has no Content-Disposition')
  await expect(readAll(part('n'.repeat(20_000), ''), 'b')).rejects.toThrow('head of a part is too long')
  await expect(readAll(part('n'.repeat(20_000), ''), 'b', () => 1e6)).rejects.toThrow('head of a part is')
  await expect(readAll(`--b\r\n${'x'.repeat(20_000)}`, 'b')).rejects.toThrow('head of a part is too long')
  await expect(readAll(`${part('n', '')}--b--${'x'.repeat(70_000)}`, 'b')).rejects.toThrow('follow the end')
  await expect(readAll(`${'x'.repeat(70_000)}\r\n${part('n', '')}--b--`, 'b')).rejects.toThrow(
    'before the first',
  )
})

test('the boundary of a Content-Type is bare or quoted, and has at most 256 characters', () => {
  expect(boundaryOf('multipart/form-data; boundary=abc')).toBe('abc')
  expect(boundaryOf('Multipart/Form-Data; charset=utf-8; BOUNDARY="a b"')).toBe('a b')
  expect(boundaryOf('multipart/form-data; boundary="a\\"b"; charset=utf-8')).toBe('a"b')
  expect(boundaryOf(`multipart/form-data; boundary=${'x'.repeat(256)}`)).toBe('x'.repeat(256))
})

test.each([
  'multipart/form-data;boundary=a"b',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/mixed; boundary=abc',
  'application/json',
])('%p has no boundary of a form', contentType => {
  expect(boundaryOf(contentType)).toBeNull()
})

test('a boundary of 10 KB is not accepted', () => {
  expect(boundaryOf(`multipart/form-data; boundary=${'x'.repeat(10_000)}`)).toBeNull()
})
