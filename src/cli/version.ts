import { FFMPEG_VERSION } from '../../node_modules/node-av/dist/ffmpeg/version.js'
import av from '../../node_modules/node-av/package.json'
import runtime from '../../node_modules/onnxruntime-node/package.json'
import steno from '../../package.json'
import { type Command, need, print } from './command.ts'

/** The commit a binary was built from; the build puts it here. */
declare const STENO_COMMIT: string | undefined

export const version: Command = {
  usage: 'steno version [--json]',
  summary: 'Print the versions of everything in it.',
  options: { json: { type: 'boolean' } },
  async run(positionals, values) {
    need(positionals)
    const versions = {
      steno: steno.version,
      commit: typeof STENO_COMMIT === 'string' ? STENO_COMMIT : 'checkout',
      bun: Bun.version,
      onnxruntime: runtime.version,
      ffmpeg: FFMPEG_VERSION,
      'node-av': av.version,
    }
    print(values, versions, () => Object.entries(versions).map(([name, value]) => `${name} ${value}`))
  },
}
