import { expect, test } from 'bun:test'
import { openDecoder } from '../../src/net/content-encoding.ts'

test.each([[['gzip']], [['gzip', 'gzip']]])(
  '%j: when a decoding is abandoned, the write that is under way ends first',
  async codings => {
    const begun = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const written: string[] = []
    const decoder = openDecoder(
      codings,
      async bytes => {
        begun.resolve()
        await released.promise
        written.push(Buffer.from(bytes).toString())
      },
      () => {},
    )!
    const body = codings.reduce(
      (bytes, _) => Bun.gzipSync(bytes),
      new Uint8Array(Buffer.from('Good morning.')),
    )
    void decoder.push(body)
    await begun.promise
    // Simulates a slow disk: the write ends in a later turn of the event loop.
    setImmediate(released.resolve)
    await decoder.abandon()
    expect(written).toEqual(['Good morning.'])
  },
)
