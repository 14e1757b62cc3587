import { FFMPEG_VERSION } from '../../node_modules/node-av/dist/ffmpeg/version.js'
import av from '../../node_modules/node-av/package.json'
import runtime from '../../node_modules/onnxruntime-node/package.json'
import steno from '../../package.json'
import { command, jsonOption, need, print } from './command.ts'

/**
 * The commit from which the binary was built. The build defines this constant; a checkout does not have it.
 */
declare const STENO_COMMIT: string | undefined

export const version = command({
  usage: 'steno version [--json]',
  summary: 'Print the version of this program and of its parts.',
  options: jsonOption,
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
})
