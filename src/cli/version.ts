import { ffmpeg } from '../../native/built.json'
import runtime from '../../node_modules/onnxruntime-node/package.json'
import { build } from '../base/build.ts'
import { need } from './arguments.ts'
import { command, jsonOption } from './command.ts'
import { print } from './print.ts'

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
      ffmpeg: ffmpeg.version,
    }
    print(values, versions, () => Object.entries(versions).map(([name, value]) => `${name} ${value}`))
  },
})
