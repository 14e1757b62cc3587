import { formatSize } from '../base/units.ts'
import { installCuda, pullCuda } from '../engine/models/cuda.ts'
import { whyNoCuda } from '../engine/models/cuda-libraries.ts'
import { newCudaFolder } from '../engine/onnx/library.ts'
import { publicSource } from '../net/nuget.ts'
import { need, refuseEmpty } from './arguments.ts'
import { barOf, openBar } from './bar.ts'
import { command } from './command.ts'
import { UsageError } from './failure.ts'
import { say } from './print.ts'
import { requireFile } from './readable-file.ts'
import { dataOption, localConfig } from './settings.ts'
import { unwritable } from './unwritable.ts'

export const pull = command({
  usage: 'steno runtime pull cuda [--from FILE | --source URL]',
  summary: 'Download what ONNX Runtime needs to work on an NVIDIA GPU.',
  options: { ...dataOption, from: { type: 'string' }, source: { type: 'string' } },
  suggested: ['cuda'],
  help: {
    from: 'the NuGet package as a file, for a machine without a network',
    source: `index of a NuGet source, ${publicSource}`,
  },
  async run(positionals, values) {
    refuseEmpty(values, 'from', 'source')
    const { from, source = publicSource } = values
    localConfig(values)
    const [provider] = need(positionals, 'cuda')
    if (provider !== 'cuda') throw new UsageError(`there is no provider ${provider}; there is cuda`)
    if (from !== undefined) requireFile(from)
    const pulled = from === undefined ? pullFrom(source) : installCuda(from)
    const folder = await pulled.catch(error => {
      // `from` is a NuGet package file that the user names. If the error names this file, the file cannot be read, and
      // the error is thrown unchanged. The command writes only to the folder of the CUDA provider and to the folder
      // above it. So any other error of the file system means that this place cannot be written.
      if (from !== undefined && error.path === from) throw error
      throw unwritable(error, { folder: newCudaFolder(), setting: 'STENO_DATA_DIR' })
    })
    say(`the CUDA provider is in ${folder}`)
    const why = whyNoCuda()
    if (why !== null) say(`it cannot be used yet: ${why}`)
  },
})

async function pullFrom(source: string): Promise<string> {
  const bar = openBar()
  const onProgress = (bytes: number, total: number) =>
    bar.show(`${barOf(bytes / total)} CUDA provider: ${formatSize(bytes)} of ${formatSize(total)}`)
  return pullCuda({ source, signal: new AbortController().signal, onProgress }).finally(() => bar.end())
}
