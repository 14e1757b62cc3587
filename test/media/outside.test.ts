// Tests media that name other files and addresses, such as playlists and manifests. The media child process must open
// none of them.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/folder.ts'
import { failureOf, fixture, inspect, patienceMs } from './files.ts'

setDefaultTimeout(patienceMs)

let callers = 0
let port = 0
let listener: { stop(force?: boolean): void }

beforeAll(() => {
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => void callers++, data: () => {} },
  })
  port = server.port
  listener = server
})

afterAll(() => listener.stop(true))

const local = fixture('pcm.wav')
const localTs = fixture('mpeg2-aac.ts')
const remote = (path: string) => `http://127.0.0.1:${port}/${path}`
const playlist = (...entries: string[]) =>
  [
    '#EXTM3U',
    '#EXT-X-TARGETDURATION:10',
    ...entries.flatMap(entry => ['#EXTINF:10,', entry]),
    '#EXT-X-ENDLIST',
    '',
  ].join('\n')
const manifest = (address: string) =>
  `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S"
   profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="audio/mp4"><Representation
   id="1" bandwidth="1000" codecs="mp4a.40.2"><BaseURL>${address}</BaseURL></Representation></AdaptationSet></Period></MPD>`

const hostile: Record<string, () => string> = {
  'a playlist of remote files': () => playlist(remote('a.ts')),
  'a playlist of local files': () => playlist(`file://${localTs}`),
  'a playlist of nothing but paths': () => playlist(localTs),
  'a playlist by other protocols': () =>
    playlist(
      `concat:${localTs}|${localTs}`,
      `subfile,,start,0,end,0,,:${localTs}`,
      `tcp://127.0.0.1:${port}`,
    ),
  'a list of remote files to join': () => `ffconcat version 1.0\nfile ${remote('a.mp3')}\n`,
  'a list of local files to join': () => `ffconcat version 1.0\nfile '${local}'\n`,
  'a manifest of remote files': () => manifest(remote('a.mp4')),
  'a manifest of local files': () => manifest(`file://${fixture('aac.m4a')}`),
  'a session description': () =>
    `v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0\r\n`,
  'a pointer to a stream': () => `[Reference]\r\nRef1=${remote('a.asf')}\r\n`,
}

describe.each(Object.entries(hostile))('%s', (_, write) => {
  test('is refused as not media, and no address is requested', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'hostile.mp4')
    writeFileSync(path, write())
    expect(await failureOf(inspect(path))).toMatchObject({ code: 'INVALID_MEDIA_FORMAT' })
    expect(callers).toBe(0)
  })
})

test('a film with its sound in another file has no audio track', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'reference.mov')
  writeFileSync(path, referring(readFileSync(fixture('mpeg4-pcm.mov')), local))
  expect(await failureOf(inspect(path))).toMatchObject({ code: 'INVALID_MEDIA_FORMAT' })
  expect(callers).toBe(0)
})

const parents = ['moov', 'trak', 'mdia', 'minf', 'dinf']

/**
 * Returns a copy of the QuickTime file `film` in which each data reference is a link to `path`. A data reference names
 * the file with a track's data.
 */
function referring(film: Buffer, path: string): Buffer {
  const boxes: Buffer[] = []
  for (let at = 0; at < film.length; at += film.readUInt32BE(at)) {
    const box = film.subarray(at, at + film.readUInt32BE(at))
    const type = box.toString('latin1', 4, 8)
    if (parents.includes(type)) boxes.push(boxOf(type, referring(box.subarray(8), path)))
    else if (type === 'dref') boxes.push(boxOf('dref', Buffer.concat([box.subarray(8, 16), aliasOf(path)])))
    else boxes.push(box)
  }
  return Buffer.concat(boxes)
}

function boxOf(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, body])
}

/**
 * Returns an alias record of QuickTime, which is a link to `path`. The record has 150 zeros in place of the volume and
 * the filename, and then an entry with the path.
 */
function aliasOf(path: string): Buffer {
  const even = path.length % 2 === 0 ? path : `${path}\0`
  const entry = Buffer.alloc(4)
  entry.writeUInt16BE(2)
  entry.writeUInt16BE(even.length, 2)
  const end = Buffer.from([255, 255, 0, 0])
  return boxOf('alis', Buffer.concat([Buffer.alloc(4 + 150), entry, Buffer.from(even, 'latin1'), end]))
}
