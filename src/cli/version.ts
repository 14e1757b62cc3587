import { FFMPEG_VERSION } from '../../node_modules/node-av/dist/ffmpeg/version.js'
import av from '../../node_modules/node-av/package.json'
import runtime from '../../node_modules/onnxruntime-node/package.json'
import { build } from '../base/build.ts'
import { command, jsonOption, need, print } from './command.ts'

export const version = command({
  usage: 'steno version [--json]',
  summary: 'Print the version of this program and of its parts.',
  options: jsonOption,
  async run(positionals, values) {
    need(positionals)
    const versions = {
      steno: build.version,
      commit: build.commit,
      bun: Bun.version,
      onnxruntime: runtime.version,
      ffmpeg: FFMPEG_VERSION,
      'node-av': av.version,
    }
    print(values, versions, () => Object.entries(versions).map(([name, value]) => `${name} ${value}`))
  },
})
